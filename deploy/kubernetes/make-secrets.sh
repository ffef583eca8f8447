#!/bin/sh
# Makes every secret of an installation, once, in a new folder: cluster/ has a folder for each Secret of the
# cluster with a file for each setting, logins.sql is for the owner of the database, and authority/ has the
# key that signs certificates, which no cluster needs. Keep a copy of SECRETS_KEK apart from the database.
#
#   POSTGRES=host:5432/workflow NATS=host:4222 sh make-secrets.sh FOLDER
#
# POSTGRES may end with parameters, as ?sslmode=verify-full; OWNER_PASSWORD is that of an owner who is there
# already. Without these variables it is for overlays/dev.
set -eu
umask 077

folder="${1:?Usage: make-secrets.sh FOLDER}"
postgres="${POSTGRES:-postgres:5432/workflow}"
nats="${NATS:-nats:4222}"
owner_password="${OWNER_PASSWORD:-$(openssl rand -hex 24)}"
mkdir -p "$(dirname "$folder")"
mkdir "$folder" "$folder/cluster"
cd "$folder/cluster"

# put SECRET SETTING VALUE
put() {
  mkdir -p "$1"
  printf '%s\n' "$3" > "$1/$2"
}

# The service of a part: the runs service is two parts.
service_of() {
  case "$1" in runs-*) echo runs ;; *) echo "$1" ;; esac
}

parts="gateway workflows runs-api runs-worker tables integrations webhooks"
services="gateway workflows runs tables integrations webhooks"

# Tokens between services: whoever calls signs with a key of its own, and all know the public ones.
mkdir ../tokens
public=""
for issuer in gateway workflows runs webhooks admin; do
  openssl genpkey -algorithm ed25519 -out "../tokens/$issuer.pem"
  public="$public${public:+,}$issuer=$(openssl pkey -in "../tokens/$issuer.pem" -pubout | base64 | tr -d '\n')"
done

mkdir ../passwords
for service in $services; do
  openssl rand -hex 24 > "../passwords/postgres-$service"
  printf "alter role workflow_%s login password '%s';\n" "$service" "$(cat "../passwords/postgres-$service")" >> ../logins.sql
done
for user in setup $services; do
  openssl rand -hex 24 > "../passwords/nats-$user"
  # The quotes are part of the value: a password of digits would be a number.
  name="NATS_$(echo "$user" | tr '[:lower:]' '[:upper:]')_PASSWORD"
  put nats "$name" "\"$(cat "../passwords/nats-$user")\""
done
# A value with the end of its line would be another password.
for file in nats/*; do printf '%s' "$(cat "$file")" > "$file"; done

kek="$(openssl rand -base64 32)"
for part in $parts; do
  service="$(service_of "$part")"
  put "$part" DATABASE_URL "postgresql://workflow_$service:$(cat "../passwords/postgres-$service")@$postgres"
  put "$part" NATS_URL "nats://$service:$(cat "../passwords/nats-$service")@$nats"
  if [ -e "../tokens/$service.pem" ]; then cp "../tokens/$service.pem" "$part/INTERNAL_TOKEN_PRIVATE_KEY"; fi
  if [ "$part" != gateway ]; then put "$part" INTERNAL_TOKEN_PUBLIC_KEYS "$public"; fi
done
put integrations SECRETS_KEK "$kek"
put webhooks SECRETS_KEK "$kek"

put postgres OWNER_PASSWORD "$owner_password"
put admin DATABASE_URL "postgresql://workflow_owner:$owner_password@$postgres"
put admin NATS_URL "nats://setup:$(cat ../passwords/nats-setup)@$nats"
put admin SECRETS_KEK "$kek"
cp ../tokens/admin.pem admin/INTERNAL_TOKEN_PRIVATE_KEY

# gRPC over TLS: an authority of its own, and for each part a certificate with the name of its Service.
mkdir ../authority
new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
new_key ../authority/ca.key
openssl req -x509 -new -key ../authority/ca.key -days 3650 -subj "/CN=workflow services" -out ../authority/ca.crt
for part in $parts; do
  mkdir "$part-tls"
  new_key "$part-tls/tls.key"
  printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$part" > ../authority/extensions
  openssl req -new -key "$part-tls/tls.key" -subj "/CN=$part" |
    openssl x509 -req -CA ../authority/ca.crt -CAkey ../authority/ca.key -CAcreateserial -days 825 \
      -extfile ../authority/extensions -out "$part-tls/tls.crt" 2> /dev/null
  cp ../authority/ca.crt "$part-tls/ca.crt"
done
rm -r ../passwords ../tokens ../authority/extensions

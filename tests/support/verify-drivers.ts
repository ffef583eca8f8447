/**
 * A language of docs/verify-webhooks.md and the way to run its code: as a program that reads cases from its
 * standard input, a line each of secret, header, time and the body in Base64, with tabs between them, and prints
 * `true` or `false` for each.
 */
export interface Driver {
  /** The name behind the fence of the code. */
  language: string;
  /** The program that runs the code, and the arguments that show whether it is there. */
  command: string;
  versionArgs: readonly string[];
  /** The name of the file with the program. */
  file: string;
  /** The arguments before the file's name. */
  args: readonly string[];
  /** The whole program around the code of the page. */
  complete: (code: string) => string;
}

/** A program that ends with a loop over the cases. */
function followedBy(loop: string) {
  return (code: string): string => `${code}\n${loop}\n`;
}

const JAVA_MAIN = `
final class Main {
  public static void main(String[] args) throws Exception {
    var input = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
    for (String line; (line = input.readLine()) != null;) {
      String[] parts = line.split("\\t", -1);
      byte[] body = java.util.Base64.getDecoder().decode(parts[3]);
      System.out.println(Deliveries.isOurs(body, parts[1], parts[0], Long.parseLong(parts[2])));
    }
  }
}
`;

const GO_MAIN = `
func main() {
	input, _ := io.ReadAll(os.Stdin)
	for _, line := range strings.Split(strings.TrimSuffix(string(input), "\\n"), "\\n") {
		parts := strings.Split(line, "\\t")
		now, _ := strconv.ParseInt(parts[2], 10, 64)
		body, _ := base64.StdEncoding.DecodeString(parts[3])
		fmt.Println(isOurs(body, parts[1], parts[0], now))
	}
}
`;

export const DRIVERS: readonly Driver[] = [
  {
    language: "js",
    command: process.execPath,
    versionArgs: ["--version"],
    file: "verify.mjs",
    args: [],
    complete: followedBy(`
      import { readFileSync } from "node:fs";
      for (const line of readFileSync(0, "utf8").trimEnd().split("\\n")) {
        const [secret, header, now, body] = line.split("\\t");
        console.log(isOurs(Buffer.from(body, "base64"), header, secret, Number(now)));
      }`),
  },
  {
    language: "python",
    command: "python3",
    versionArgs: ["--version"],
    file: "verify.py",
    args: [],
    complete: followedBy(`
import base64, sys
for line in sys.stdin:
    secret, header, now, body = line.rstrip("\\n").split("\\t")
    print(str(is_ours(base64.b64decode(body), header, secret, int(now))).lower())`),
  },
  {
    language: "java",
    command: "java",
    versionArgs: ["-version"],
    file: "Main.java",
    // The program lives for a second, so the better compiler and several threads would not pay.
    args: ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"],
    complete(code) {
      // Java runs the first class of a file.
      const at = code.indexOf("final class");
      return code.slice(0, at) + JAVA_MAIN + code.slice(at);
    },
  },
  {
    language: "perl",
    command: "perl",
    versionArgs: ["-MDigest::SHA", "-MMIME::Base64", "-v"],
    file: "verify.pl",
    args: [],
    complete: followedBy(`
      use MIME::Base64;
      while (my $line = <STDIN>) {
        chomp $line;
        my ($secret, $header, $now, $body) = split /\\t/, $line, -1;
        print is_ours(decode_base64($body), $header, $secret, $now) ? "true\\n" : "false\\n";
      }`),
  },
  {
    language: "bash",
    command: "bash",
    versionArgs: ["-c", "command -v openssl base64 sed"],
    file: "verify.sh",
    args: [],
    complete: followedBy(`
file=$(mktemp)
# A space would take tabs together.
while IFS=$'\\x1f' read -r secret header now body; do
  base64 -d <<<"$body" >"$file"
  if is_ours "$file" "$header" "$secret" "$now"; then echo true; else echo false; fi
done < <(tr '\\t' '\\037')
rm -f "$file"`),
  },
  {
    language: "ruby",
    command: "ruby",
    versionArgs: ["-ropenssl", "-e", "OpenSSL.method(:secure_compare)"],
    file: "verify.rb",
    args: [],
    complete: followedBy(`
      require "base64"
      $stdin.each_line(chomp: true) do |line|
        secret, header, now, body = line.split("\\t", -1)
        puts ours?(Base64.decode64(body), header, secret, now.to_i)
      end`),
  },
  {
    language: "go",
    command: "go",
    versionArgs: ["version"],
    file: "main.go",
    args: ["run"],
    complete: (code) =>
      code.replace("import (", 'import (\n\t"encoding/base64"\n\t"fmt"\n\t"io"\n\t"os"') + GO_MAIN,
  },
  {
    language: "php",
    command: "php",
    versionArgs: ["--version"],
    file: "verify.php",
    args: [],
    complete: followedBy(`
      foreach (file("php://stdin", FILE_IGNORE_NEW_LINES) as $line) {
        [$secret, $header, $now, $body] = explode("\\t", $line);
        echo is_ours(base64_decode($body), $header, $secret, (int) $now) ? "true\\n" : "false\\n";
      }`),
  },
];

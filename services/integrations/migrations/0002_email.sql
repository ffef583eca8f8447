-- What became of e-mails, by idempotency key. No content and no address: templates may have put
-- secrets into either.

create table integrations.email_sends (
  company_id uuid not null,
  idempotency_key text not null,
  -- sending: somebody hands the message over, as long as claimed_until has not passed.
  -- open: nothing is known to have been sent; the next call sends.
  -- sent, refused: the mail server's last word.
  state text not null,
  -- Who sends: a caller whose claim was taken over must not record anything any more.
  claim uuid not null,
  claimed_until timestamptz(3) not null,
  -- Recipients that the server refused, by their position among to, cc and bcc.
  rejected_positions smallint[] not null default '{}',
  -- Its reply to a message that it refused: 550, and 5.1.1 where it said so.
  reply_code smallint,
  reply_status text,
  created_at timestamptz(3) not null default now(),
  constraint email_sends_pkey primary key (company_id, idempotency_key),
  constraint email_sends_state check (state in ('sending', 'open', 'sent', 'refused')),
  constraint email_sends_reply check ((state = 'refused') = (reply_code is not null))
);
create index email_sends_by_age on integrations.email_sends (created_at);

/** Queries that find rows of webhooks which must not exist. */
export const invariantsOfWebhooks: Record<string, string> = {
  'there are at most 20 webhooks of the service, and each is in the audit log': `
    select count(*) as found from webhook_endpoint where client_id is null having count(*) > 20
    union all
    select 1 from webhook_endpoint where client_id is null and not exists (
      select from audit_event where action = 'webhook.created' and details ->> 'webhookId' = receiver_id
    )`,
  'a webhook has one secret without expiry': `
    select webhook_endpoint.receiver_id, count(secret_id) from webhook_endpoint
    left join webhook_secret on webhook_secret.receiver_id = webhook_endpoint.receiver_id and expires_at is null
    group by webhook_endpoint.receiver_id having count(secret_id) <> 1`,
  'a disabled webhook has no pending delivery, unless 1,000 others have failed': `
    select receiver_id, delivery_id from webhook_delivery join webhook_endpoint using (receiver_id)
    where state = 'pending' and disabled_at is not null and (
      select count(*) from webhook_delivery other
      where other.receiver_id = webhook_endpoint.receiver_id and other.state = 'failed'
    ) < 1000`,
  'a delivery is complete exactly if its last attempt succeeded': `
    select receiver_id, delivery_id, state, attempts from webhook_delivery
    where (state = 'delivered') <> exists (
      select from webhook_attempt
      where webhook_attempt.receiver_id = webhook_delivery.receiver_id
        and webhook_attempt.delivery_id = webhook_delivery.delivery_id
        and attempt = attempts and response_status between 200 and 299
    )`,
}

import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { Webhook } from 'standardwebhooks'
import { toNumericDate } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'

/** RFC 5424 §6.2.1: facility 10 (security), severity 6 (informational). */
const priority = 86
const messageIdCharactersMax = 32

/** Events of one request, or of one connection. */
export type Batch = [AuditEvent, ...AuditEvent[]]

/** Builds the body of a request and its headers, signed by each secret (Standard Webhooks). */
export function writeHttpBatch(
  events: Batch,
  { sinkId, secrets, now }: { sinkId: string; secrets: string[]; now: Date },
): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify(events)
  // The same events have the same ID when they are sent again. After a restore, other events have their places.
  const sent = sha256(events.map(({ entryId }) => entryId).join()).toString('base64url')
  const id = `audit-${sinkId}-${sent}`
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(toNumericDate(now)),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
    },
  }
}

/** Formats events as syslog messages (RFC 5424), each with its length before (RFC 5425 §4.3). */
export function writeSyslogBatch(events: Batch, hostName: string): Buffer {
  const frames = events.map((event) => {
    const messageId = event.action.slice(0, messageIdCharactersMax)
    const message = `<${priority}>1 ${event.at} ${hostName} countersign - ${messageId} - ${asciiOf(event)}`
    return `${message.length} ${message}`
  })
  return Buffer.from(frames.join(''), 'latin1')
}

/** Writes an event in ASCII: other characters would require a byte order mark, which parsers of JSON reject. */
function asciiOf(event: AuditEvent): string {
  return JSON.stringify(event).replaceAll(/[^\x20-\x7e]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

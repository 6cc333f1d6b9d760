import { signedActionMessage } from '@countersign/protocol/formats/signing/signed-action'

/** What a page of organizations wants signed: an act, as which identity. */
export type AskedAct = {
  identityId: string
  action: string
  details: Readonly<Record<string, unknown>>
  message: string
}

/**
 * Reads what is to be signed out of a message of that page. Only acts in organizations, in the one form that they have:
 * nothing else must be signed here, such as that a key gives way to another.
 */
export function readAct(data: unknown): AskedAct | undefined {
  if (!isRecord(data) || data['type'] !== 'countersign:act') return undefined
  const { identityId, message } = data
  if (typeof identityId !== 'string' || typeof message !== 'string') return undefined
  const { action, details } = parse(message)
  if (typeof action !== 'string' || !/^(organization|sso)\.[a-z_.]+$/.test(action) || !isRecord(details))
    return undefined
  return signedActionMessage(action, details) === message ? { identityId, action, details, message } : undefined
}

function parse(message: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(message)
    return isRecord(read) ? read : {}
  } catch {
    // No JSON, so no act.
    return {}
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

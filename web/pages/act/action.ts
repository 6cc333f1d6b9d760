import { signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import { useEffect, useState } from 'preact/hooks'

/** A request of an organization page to sign an action as an identity. */
export type SignActionRequest = {
  identityId: string
  action: string
  details: Readonly<Record<string, unknown>>
  message: string
}

/**
 * Parses the request in a message of the organization page. Accepts only the canonical form of actions in
 * organizations, because nothing else must be signed here, such as the replacement of a key.
 */
export function parseSignActionRequest(data: unknown): SignActionRequest | undefined {
  if (!isRecord(data) || data['type'] !== 'countersign:act') return undefined
  const { identityId, message } = data
  if (typeof identityId !== 'string' || typeof message !== 'string') return undefined
  const { action, details } = parse(message)
  if (typeof action !== 'string' || !/^(organization|sso|scim)\.[a-z_.]+$/.test(action) || !isRecord(details))
    return undefined
  return signedActionMessage(action, details) === message ? { identityId, action, details, message } : undefined
}

function parse(message: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(message)
    return isRecord(read) ? read : {}
  } catch {
    // The message is not JSON, so it is not an action.
    return {}
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Listens to the organization page that has opened this one. The origin check excludes every other page. */
export function useOpener(businessUrl: string) {
  const requester = opener as Window | null
  const [request, setRequest] = useState<SignActionRequest>()
  useEffect(() => {
    if (!requester) return
    const take = ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== requester || origin !== businessUrl) return
      // The first message stays, so that the text does not change while the member reads it.
      setRequest((current) => current ?? parseSignActionRequest(data))
    }
    addEventListener('message', take)
    requester.postMessage({ type: 'countersign:act-awaited' }, businessUrl)
    return () => removeEventListener('message', take)
  }, [])

  function answer(message: string, signature: string): void {
    requester?.postMessage({ type: 'countersign:act-signed', message, signature }, businessUrl)
  }

  return { isThere: requester !== null, request, answer }
}

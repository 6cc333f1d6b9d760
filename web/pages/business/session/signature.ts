import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'

/** The text to sign before an action is performed, and the identity that signs it. */
type SignatureInput = { identityId: string; message: string }

/** A requested signature, and the window in which it is signed, if the browser has opened one. */
export type SignatureRequest = SignatureInput & {
  opened: SigningWindow | undefined
  answer: (signature: string | undefined) => void
}

let show: ((request: SignatureRequest | undefined) => void) | undefined
let isPending = false

/** Returns the requested signature, for the one component that shows it. */
export function useSignatureRequest(): SignatureRequest | undefined {
  const [request, setRequest] = useState<SignatureRequest>()
  useEffect(() => {
    show = setRequest
    return () => {
      show = undefined
    }
  }, [])
  return request
}

/** Returns the signature that an error asks for. Throws the error if the user does not sign, and any other error. */
export async function signatureFor(error: unknown): Promise<string> {
  const requested =
    error instanceof ApiError && error.code === 'signed_action_required' ? requestedIn(error) : undefined
  const signature = requested && (await requestSignature(requested))
  if (signature === undefined) throw error
  return signature
}

function requestedIn({ fields: { identityId, message } }: ApiError): SignatureInput | undefined {
  return typeof identityId === 'string' && typeof message === 'string' ? { identityId, message } : undefined
}

/** One signature at a time. A second request is rejected. */
async function requestSignature(requested: SignatureInput): Promise<string | undefined> {
  if (!show || isPending) return undefined
  isPending = true
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  show({ ...requested, opened: mayOpen() ? openSigningWindow(requested) : undefined, answer: resolve })
  const signature = await promise
  isPending = false
  show?.(undefined)
  return signature
}

/** Returns whether the last press of a button or key is recent enough for the browser to allow a popup. */
function mayOpen(): boolean {
  return navigator.userActivation?.isActive ?? true
}

const glanceMilliseconds = 300

/** A window in which a text is signed. `signature` is undefined if the user closed the window without signing. */
export type SigningWindow = { signature: Promise<string | undefined>; focus: () => void; close: () => void }

/**
 * Opens the page that signs actions, on the host of the passkeys. Returns undefined if the browser blocked the popup.
 */
export function openSigningWindow({ identityId, message }: SignatureInput): SigningWindow | undefined {
  const { authUrl } = readSiteSettings()
  const popup = open(`${authUrl}/act`, '_blank', 'popup,width=520,height=780')
  if (!popup) return undefined
  const ended = new AbortController()
  const signature = new Promise<string | undefined>((resolve) => {
    const take = ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== popup || origin !== authUrl) return
      const { type, message: signed, signature: made } = fieldsOf(data)
      if (type === 'countersign:act-awaited')
        popup.postMessage({ type: 'countersign:act', identityId, message }, authUrl)
      if (type === 'countersign:act-signed' && signed === message && typeof made === 'string') resolve(made)
    }
    addEventListener('message', take, { signal: ended.signal })
    // No event reports that a window was closed. Its last message may arrive later, so it counts as closed on the
    // second look.
    let wasClosed = false
    const glances = setInterval(() => {
      if (wasClosed) resolve(undefined)
      wasClosed = popup.closed
    }, glanceMilliseconds)
    ended.signal.addEventListener('abort', () => clearInterval(glances))
  }).finally(() => ended.abort())
  return { signature, focus: () => popup.focus(), close: () => popup.close() }
}

function fieldsOf(data: unknown): Partial<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? { ...data } : {}
}

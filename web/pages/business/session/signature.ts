import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { readSite } from '../../../lib/view.ts'

/** What there is to sign before it is done, and as which of the person's names. */
type Wanted = { identityId: string; message: string }

/** The same, and the window where it is signed, if the browser has let one open. */
export type AskedSignature = Wanted & {
  opened: SigningWindow | undefined
  answer: (signature: string | undefined) => void
}

let show: ((asked: AskedSignature | undefined) => void) | undefined
let isAsking = false

/** What is to be signed now, for the one place that shows it. */
export function useAskedSignature(): AskedSignature | undefined {
  const [asked, setAsked] = useState<AskedSignature>()
  useEffect(() => {
    show = setAsked
    return () => {
      show = undefined
    }
  }, [])
  return asked
}

/** The signature that a refusal asks for, by the person; throws the refusal where they don't sign, and any other. */
export async function signatureFor(error: unknown): Promise<string> {
  const wanted = error instanceof Refused && error.code === 'signed_action_required' ? wantedIn(error) : undefined
  const signature = wanted && (await askFor(wanted))
  if (signature === undefined) throw error
  return signature
}

function wantedIn({ fields: { identityId, message } }: Refused): Wanted | undefined {
  return typeof identityId === 'string' && typeof message === 'string' ? { identityId, message } : undefined
}

/** One at a time: what is asked for beside it is not signed. */
async function askFor(wanted: Wanted): Promise<string | undefined> {
  if (!show || isAsking) return undefined
  isAsking = true
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  show({ ...wanted, opened: mayOpen() ? signInWindow(wanted) : undefined, answer: resolve })
  const signature = await promise
  isAsking = false
  show?.(undefined)
  return signature
}

/** Whether the press of a button, or of a key, is so lately ago that the browser lets a window open for it. */
function mayOpen(): boolean {
  return navigator.userActivation?.isActive ?? true
}

const glanceMilliseconds = 300

/** A window in which something is to be signed: the signature, undefined where it was closed without. */
export type SigningWindow = { signature: Promise<string | undefined>; focus: () => void; close: () => void }

/**
 * Opens the page on the host of the passkeys where acts are signed, for this one; undefined where the browser let none
 * open.
 */
export function signInWindow({ identityId, message }: Wanted): SigningWindow | undefined {
  const { authUrl } = readSite()
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
    // No event tells that a window was closed. What it said last may come after that can be seen, so one looks twice.
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

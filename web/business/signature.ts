import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../call.ts'
import { readSite } from '../view.ts'

/** What an organization wants signed before it is done, and as which of the person's names. */
type Wanted = { identityId: string; message: string }
export type AskedSignature = Wanted & { answer: (signature: string | undefined) => void }

let show: ((asked: AskedSignature | undefined) => void) | undefined

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

function askFor(wanted: Wanted): Promise<string | undefined> {
  return new Promise((resolve) => {
    const answer = (signature: string | undefined) => {
      show?.(undefined)
      resolve(signature)
    }
    if (!show) return resolve(undefined)
    show({ ...wanted, answer })
  })
}

const glanceMilliseconds = 300

/**
 * Opens the page on the host of the passkeys where acts are signed, and answers the signature of this one; undefined
 * where the window was closed. Without a promise the browser let none open.
 */
export function signInWindow({ identityId, message }: Wanted): Promise<string | undefined> | undefined {
  const { authUrl } = readSite()
  const popup = open(`${authUrl}/act`, '_blank', 'popup,width=520,height=780')
  if (!popup) return undefined
  const ended = new AbortController()
  return new Promise<string | undefined>((resolve) => {
    const take = ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== popup || origin !== authUrl) return
      const { type, message: signed, signature } = fieldsOf(data)
      if (type === 'countersign:act-awaited')
        popup.postMessage({ type: 'countersign:act', identityId, message }, authUrl)
      if (type === 'countersign:act-signed' && signed === message && typeof signature === 'string') resolve(signature)
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
}

function fieldsOf(data: unknown): Partial<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? { ...data } : {}
}

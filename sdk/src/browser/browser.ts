export type PopupAnswer =
  | { type: 'signed'; requestId: string; signature: string; publicKey: string }
  | { type: 'denied'; requestId: string }
  /** The window has gone without a word. It may have been answered all the same: your server knows. */
  | { type: 'closed' }
  /** The browser let no window open. Show a link to this page, which the person presses. */
  | { type: 'blocked'; signingUrl: string }

type Wanted = {
  /** The page to sign on. A promise of it, where your server is still to be asked, lets the window open at once. */
  signingUrl: string | Promise<string>
  /** Ends the waiting, and closes the window. */
  signal?: AbortSignal
}

const width = 480
const height = 760
const glanceMilliseconds = 300

/**
 * Opens the page on which a person signs, and answers what becomes of it. Call it in the handler of a click, before
 * anything is awaited: browsers let no other window open. The answer is for the eyes of the person: what counts is a
 * signature that your server has verified.
 */
export async function openSigningPopup({ signingUrl, signal }: Wanted): Promise<PopupAnswer> {
  signal?.throwIfAborted()
  const popup = open('about:blank', '_blank', featuresOf(window))
  try {
    const page = addressOf(await signingUrl)
    if (!popup) return { type: 'blocked', signingUrl: page.href }
    const answer = answerFrom(popup, page, signal)
    popup.location.replace(page.href)
    return await answer
  } catch (error) {
    popup?.close()
    throw error
  }
}

/** In the middle of the window that asks. */
function featuresOf({ screenX, screenY, outerWidth, outerHeight }: Window): string {
  const left = Math.round(screenX + Math.max(0, outerWidth - width) / 2)
  const top = Math.round(screenY + Math.max(0, outerHeight - height) / 2)
  return `popup,width=${width},height=${height},left=${left},top=${top}`
}

function addressOf(signingUrl: string): URL {
  const url = new URL(signingUrl)
  // Any other kind could be a script, and would run as one of this page.
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('signingUrl is the address of a page')
  return url
}

function answerFrom(popup: Window, { origin, searchParams }: URL, signal?: AbortSignal): Promise<PopupAnswer> {
  const requestId = searchParams.get('requestId')
  const ended = new AbortController()
  const whileWaiting = { signal: ended.signal }
  return new Promise<PopupAnswer>((resolve, reject) => {
    addEventListener(
      'message',
      ({ source, origin: sender, data }: MessageEvent<unknown>) => {
        const answer = source === popup && sender === origin ? answerIn(data) : undefined
        if (answer?.requestId === requestId) resolve(answer)
      },
      whileWaiting,
    )
    signal?.addEventListener('abort', () => reject(signal.reason), whileWaiting)
    // No event tells that a window was closed. What it said last may come after that can be seen, so one looks twice.
    let wasClosed = false
    const glances = setInterval(() => {
      if (wasClosed) resolve({ type: 'closed' })
      wasClosed = popup.closed
    }, glanceMilliseconds)
    ended.signal.addEventListener('abort', () => clearInterval(glances))
  }).finally(() => ended.abort())
}

/** What the signing page tells, if that is what it is. */
function answerIn(data: unknown): Extract<PopupAnswer, { requestId: string }> | undefined {
  if (!isRecord(data) || !isRecord(data['payload'])) return undefined
  const { requestId, signature, publicKey } = data['payload']
  if (typeof requestId !== 'string') return undefined
  if (data['type'] === 'countersign:denied') return { type: 'denied', requestId }
  if (data['type'] !== 'countersign:signed') return undefined
  if (typeof signature !== 'string' || typeof publicKey !== 'string') return undefined
  return { type: 'signed', requestId, signature, publicKey }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

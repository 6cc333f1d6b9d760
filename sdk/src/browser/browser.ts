export type SigningPopupResult =
  | { type: 'signed'; requestId: string; signature: string; publicKey: string }
  | { type: 'denied'; requestId: string }
  /** The window was closed without an answer. The request can be answered nevertheless: your server can find out. */
  | { type: 'closed' }
  /** The browser blocked the window. Show a link to the page, which the user clicks. */
  | { type: 'blocked'; signingUrl: string }

type SigningPopupOptions = {
  /**
   * URL of the page to sign on. With a promise, the window can open at once while your server still creates the
   * request.
   */
  signingUrl: string | Promise<string>
  /** Stops waiting and closes the window. */
  signal?: AbortSignal
}

const width = 480
const height = 760
const glanceMilliseconds = 300

/**
 * Opens the page on which a user signs, and returns the outcome. Call it in a click handler before the first await,
 * because browsers block other windows. The outcome is only for display: the proof is a signature that your server has
 * verified.
 */
export async function openSigningPopup({ signingUrl, signal }: SigningPopupOptions): Promise<SigningPopupResult> {
  signal?.throwIfAborted()
  const popup = open('about:blank', '_blank', featuresOf(window))
  const ended = new AbortController()
  const aborted = new Promise<never>((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: ended.signal }),
  )
  try {
    return await Promise.race([aborted, requestIn(popup, signingUrl, ended.signal)])
  } catch (error) {
    popup?.close()
    throw error
  } finally {
    ended.abort()
  }
}

async function requestIn(
  popup: Window | null,
  signingUrl: string | Promise<string>,
  ended: AbortSignal,
): Promise<SigningPopupResult> {
  const page = parseBaseUrl(await signingUrl)
  ended.throwIfAborted()
  if (!popup) return { type: 'blocked', signingUrl: page.href }
  const answer = answerFrom(popup, page, ended)
  popup.location.replace(page.href)
  return answer
}

/** Centered over the opening window. */
function featuresOf({ screenX, screenY, outerWidth, outerHeight }: Window): string {
  const left = Math.round(screenX + Math.max(0, outerWidth - width) / 2)
  const top = Math.round(screenY + Math.max(0, outerHeight - height) / 2)
  return `popup,width=${width},height=${height},left=${left},top=${top}`
}

function parseBaseUrl(signingUrl: string): URL {
  const url = new URL(signingUrl)
  // Other schemes could be a script, which would run with the rights of this page.
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('signingUrl must be a page URL')
  return url
}

function answerFrom(popup: Window, { origin, searchParams }: URL, ended: AbortSignal): Promise<SigningPopupResult> {
  const requestId = searchParams.get('requestId')
  return new Promise((resolve) => {
    addEventListener(
      'message',
      ({ source, origin: sender, data }: MessageEvent<unknown>) => {
        const answer = source === popup && sender === origin ? answerIn(data) : undefined
        if (answer?.requestId === requestId) resolve(answer)
      },
      { signal: ended },
    )
    // No event reports that a window was closed. Its last message can arrive after that is visible, so the check runs
    // twice.
    let wasClosed = false
    const glances = setInterval(() => {
      if (wasClosed) resolve({ type: 'closed' })
      wasClosed = popup.closed
    }, glanceMilliseconds)
    ended.addEventListener('abort', () => clearInterval(glances))
  })
}

/** Parses a message of the signing page. Returns undefined for other messages. */
function answerIn(data: unknown): Extract<SigningPopupResult, { requestId: string }> | undefined {
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

/** A mail as `/dev/mail/messages` lists it. `at` is an ISO time. */
export type ShownMail = { id: string; at: string; to: string; subject: string; text: string }

/** A piece of a text: plain, or the URL of a page of this service. */
export type TextPart = { text: string; url?: string }

/** Returns the code of a mail, which is alone on its line. */
export function codeIn(text: string): string | undefined {
  return /^\d{6,10}$/m.exec(text)?.[0]
}

/** Splits a text at the URLs of these origins. Other URLs remain text: a name in a mail can contain any. */
export function splitAtLinks(text: string, origins: readonly string[]): TextPart[] {
  const parts: TextPart[] = []
  let plain = ''
  for (const word of text.split(/(\s+)/)) {
    const address = word.replace(/[.,;:!?)\]]$/, '')
    const url = /^https?:\/\//.test(address) ? URL.parse(address) : null
    if (!url || !origins.includes(url.origin)) {
      plain += word
      continue
    }
    if (plain !== '') parts.push({ text: plain })
    parts.push({ text: address, url: url.href })
    plain = word.slice(address.length)
  }
  return plain === '' ? parts : [...parts, { text: plain }]
}

/** Reads the mails that the service would have sent, latest first. Throws if it gives no answer, or another one. */
export async function fetchMails(): Promise<ShownMail[]> {
  const answer = await fetch('/dev/mail/messages', { headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error(`The service answered ${answer.status}`)
  const body: unknown = await answer.json()
  if (typeof body !== 'object' || body === null || !('mails' in body) || !Array.isArray(body.mails))
    throw new Error('The service answered with something else than mails')
  return body.mails.filter(isMail)
}

function isMail(value: unknown): value is ShownMail {
  const fields = new Map(Object.entries(value ?? {}))
  return ['id', 'at', 'to', 'subject', 'text'].every((name) => typeof fields.get(name) === 'string')
}

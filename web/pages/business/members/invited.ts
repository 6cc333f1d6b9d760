import { isEmail } from '@countersign/protocol/formats/email'
import { isHandle } from '@countersign/protocol/formats/handle'

/** Whom somebody means who writes a username, with or without its @, or an e-mail address. */
export function invitedBy(text: string): { handle: string } | { email: string } | undefined {
  const written = text.trim()
  if (isEmail(written)) return { email: written }
  const handle = written.replace(/^@/, '')
  return isHandle(handle) ? { handle } : undefined
}

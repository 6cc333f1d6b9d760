import { setShownUser } from '../../lib/api/call.ts'
import { withLateTexts } from '../../locales/late-texts.ts'

async function explain(): Promise<string> {
  return (await withLateTexts(import('./SessionChanged.tsx'))).showSessionChanged()
}

/**
 * Names the user that this page shows. Another one may sign in later, in another tab: the service then refuses what
 * this page sends, and the page says so. Without a user, the page shows none.
 *
 * The browser asks for permission to send the user with a read, in a request of its own before it. A page that users
 * wait for names them only where it changes something.
 */
export function showUser(user: { userId: string } | undefined, { inReads = true } = {}): void {
  setShownUser(user && { userId: user.userId, inReads, explain })
}

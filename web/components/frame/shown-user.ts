import { setShownUser } from '../../lib/api/call.ts'
import { withLateTexts } from '../../locales/late-texts.ts'

async function explain(): Promise<string> {
  return (await withLateTexts(import('./SessionChanged.tsx'))).showSessionChanged()
}

/**
 * Names the user that this page shows. Another one may sign in later, in another tab: the service then refuses what
 * this page sends, and the page says so. Without a user, the page shows none.
 */
export function showUser(user: { userId: string } | undefined): void {
  setShownUser(user && { userId: user.userId, explain }, true)
}

/**
 * Names the user only where the page changes something. The browser asks for permission to send the user with a read,
 * in a request of its own, so that a page on which users wait should name them there alone.
 */
export function showUserInChanges({ userId }: { userId: string }): void {
  setShownUser({ userId, explain }, false)
}

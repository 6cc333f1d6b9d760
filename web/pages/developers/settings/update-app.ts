import type { App, AppChange } from '@countersign/protocol/clients/apps'
import { call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'

/** The settings that are lists of URLs. */
const urlLists = ['redirectUris', 'postLogoutRedirectUris'] as const

/**
 * Changes an app as this page has read it, and asks for the passkey if that is necessary. Lists of URLs are changed as
 * they are now, because another tab may have changed them: only what the change adds or removes is added or removed.
 */
export function updateApp(app: App, change: AppChange): Promise<App> {
  const params = { clientId: app.clientId }
  return withRecentAuthentication(async () => {
    const hasUrls = urlLists.some((name) => change[name] !== undefined)
    const current = hasUrls ? await call('GET /api/developer/apps/:clientId', { params }) : app
    return call('PATCH /api/developer/apps/:clientId', { params, body: rebaseUrlLists(app, change, current) })
  })
}

type UrlLists = Pick<App, (typeof urlLists)[number]>

/** Returns a change of `read` as one of `current`, so that each list keeps what others have added meanwhile. */
export function rebaseUrlLists(read: UrlLists, change: AppChange, current: UrlLists): AppChange {
  const rebased = { ...change }
  for (const name of urlLists) {
    const written = change[name]
    if (written !== undefined) rebased[name] = rebaseList(read[name], written, current[name])
  }
  return rebased
}

function rebaseList(read: string[], written: string[], current: string[]): string[] {
  // The developer may have changed the order only.
  if (read.join(' ') === current.join(' ')) return written
  const isKept = (url: string) => written.includes(url) || !read.includes(url)
  const added = written.filter((url) => !read.includes(url))
  return [...new Set([...current.filter(isKept), ...added])]
}

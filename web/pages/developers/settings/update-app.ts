import type { App, AppChange } from '@countersign/protocol/clients/apps'
import { isEncryptionScope, isStandardScope } from '@countersign/protocol/formats/scope'
import { ApiError, call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'

/** The settings that are lists of URLs. */
export const urlLists = ['redirectUris', 'postLogoutRedirectUris'] as const
/** The settings that are lists. */
const lists = [...urlLists, 'allowedScopes', 'requiredClaims'] as const
const attemptsMax = 5

/**
 * Changes an app as this page has read it, and asks for the passkey if that is necessary. Lists are changed as they are
 * now, because another tab may have changed them: only what the change adds or removes is added or removed.
 */
export function updateApp(app: App, change: AppChange): Promise<App> {
  const hasLists = lists.some((name) => change[name] !== undefined)
  const params = { clientId: app.clientId }
  return withRecentAuthentication(() =>
    hasLists
      ? updateLists(app, change)
      : call('PATCH /api/developer/apps/:clientId', { params, headers: {}, body: change }),
  )
}

/** Changes the lists of the version that is current, and reads them again if another request has changed the app. */
async function updateLists(app: App, change: AppChange): Promise<App> {
  const params = { clientId: app.clientId }
  for (let attempt = 1; ; attempt += 1) {
    const current = await call('GET /api/developer/apps/:clientId', { params })
    const headers = { 'if-match': `"${current.version}"` }
    try {
      const body = rebaseLists(app, change, current)
      return await call('PATCH /api/developer/apps/:clientId', { params, headers, body })
    } catch (error) {
      const isLate = error instanceof ApiError && error.code === 'version_mismatch'
      if (!isLate || attempt === attemptsMax) throw error
    }
  }
}

type Lists = Pick<App, (typeof lists)[number]>

/** Returns a change of `read` as one of `current`, so that each list keeps what others have added meanwhile. */
export function rebaseLists(read: Lists, change: AppChange, current: Lists): AppChange {
  const { redirectUris, postLogoutRedirectUris, allowedScopes, requiredClaims } = change
  const rebased = { ...change }
  if (redirectUris) rebased.redirectUris = rebaseList(read.redirectUris, redirectUris, current.redirectUris)
  if (postLogoutRedirectUris)
    rebased.postLogoutRedirectUris = rebaseList(
      read.postLogoutRedirectUris,
      postLogoutRedirectUris,
      current.postLogoutRedirectUris,
    )
  if (allowedScopes) rebased.allowedScopes = rebaseList(scopesOf(read), allowedScopes, scopesOf(current))
  if (requiredClaims) rebased.requiredClaims = rebaseList(read.requiredClaims, requiredClaims, current.requiredClaims)
  return rebased
}

type AllowedScope = NonNullable<AppChange['allowedScopes']>[number]

function scopesOf({ allowedScopes }: Lists): AllowedScope[] {
  return allowedScopes.filter((scope): scope is AllowedScope => isStandardScope(scope) || isEncryptionScope(scope))
}

function rebaseList<Value extends string>(read: Value[], written: Value[], current: Value[]): Value[] {
  // The developer may have changed the order only.
  if (read.join(' ') === current.join(' ')) return written
  const isKept = (value: Value) => written.includes(value) || !read.includes(value)
  const added = written.filter((value) => !read.includes(value))
  return [...new Set([...current.filter(isKept), ...added])]
}

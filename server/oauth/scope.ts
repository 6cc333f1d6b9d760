import { isEncryptionScope, scopesOf } from '@countersign/protocol/formats/scope'
import type { RegisteredApp } from '#apps/app-directory.ts'
import { refusals } from '#kernel/refusal.ts'

const refuse = refusals({ invalid_scope: [400, 'A scope is asked for that this app is not allowed.'] })

type Allowing = Pick<RegisteredApp, 'allowedScopes' | 'supportsE2ee'>

/** The scopes of a list, each once. Refuses `invalid_scope` where one is not in the app's allowlist (RFC 6749 §3.3). */
export function requireAllowedScopes(list: string, app: Allowing): string[] {
  const scopes = scopesOf(list)
  if (!scopes.every((scope) => allows(app, scope))) throw refuse.invalid_scope()
  return scopes
}

/** What of a granted scope the app may still have: its allowlist may have shrunk since. */
export function effectiveScope(granted: string[], app: Allowing): string[] {
  return granted.filter((scope) => allows(app, scope))
}

/** The scopes of a key need no place in the allowlist of an app that takes keys, and have no use in another's. */
function allows({ allowedScopes, supportsE2ee }: Allowing, scope: string): boolean {
  return isEncryptionScope(scope) ? supportsE2ee : allowedScopes.includes(scope)
}

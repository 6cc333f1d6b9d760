import { isEncryptionScope, scopesOf } from '@countersign/protocol/formats/scope'
import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({ invalid_scope: [400, 'A scope is requested that this app is not allowed.'] })

type Allowing = Pick<RegisteredApp, 'allowedScopes' | 'supportsE2ee'>

/** The scopes of a list, each once. Refuses `invalid_scope` where one is not in the app's allowlist (RFC 6749 §3.3). */
export function requireAllowedScopes(list: string, app: Allowing): string[] {
  const scopes = scopesOf(list)
  const foreign = scopes.find((scope) => !allows(app, scope))
  if (foreign !== undefined)
    throw refuse.invalid_scope({ sentence: `The scope ${quoted(foreign)} is not allowed for this app.` })
  return scopes
}

/** A scope as a description may name it: printable ASCII without quotes and backslashes (RFC 6749 §5.2), and short. */
export function quoted(scope: string): string {
  return `'${scope.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 100)}'`
}

/** What of a granted scope the app may still have: its allowlist may have shrunk since. */
export function effectiveScope(granted: string[], app: Allowing): string[] {
  return granted.filter((scope) => allows(app, scope))
}

/** The scopes of a key need no place in the allowlist of an app that takes keys, and have no use in another's. */
function allows({ allowedScopes, supportsE2ee }: Allowing, scope: string): boolean {
  return isEncryptionScope(scope) ? supportsE2ee : allowedScopes.includes(scope)
}

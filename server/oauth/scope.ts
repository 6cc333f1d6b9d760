import { scopesOf } from '@countersign/protocol/formats/scope'
import { refusals } from '#kernel/refusal.ts'

const refuse = refusals({ invalid_scope: [400, 'A scope is asked for that this app is not allowed.'] })

/** The scopes of a list, each once. Refuses `invalid_scope` where one is not in the app's allowlist (RFC 6749 §3.3). */
export function requireAllowedScopes(list: string, allowed: string[]): string[] {
  const scopes = scopesOf(list)
  if (scopes.some((scope) => !allowed.includes(scope))) throw refuse.invalid_scope()
  return scopes
}

/** What of a granted scope the app may still have: its allowlist may have shrunk since. */
export function effectiveScope(granted: string[], allowed: string[]): string[] {
  return granted.filter((scope) => allowed.includes(scope))
}

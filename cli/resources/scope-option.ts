import type { Command } from 'commander'

/** A scope, and what it lets an app do, in words for people; empty where nothing is said. */
export type Scope = { scope: string; words: string }

/** The flag that is given once for each scope of a resource. */
export function addScopeOption(command: Command, kind: 'required' | 'optional'): Command {
  const flag = '--scope <scope>'
  const about = "'events.read See your events': a scope, and what it lets an app do; give it once for each"
  return kind === 'required'
    ? command.requiredOption(flag, about, collectScopes)
    : command.option(flag, `${about}; they take the place of all before`, collectScopes)
}

/** Scopes as the API takes them. */
export function scopeFieldsOf(given: Scope[]) {
  const described = given.filter(({ words }) => words !== '')
  return {
    scopes: given.map(({ scope }) => scope),
    scopeDescriptions: Object.fromEntries(described.map(({ scope, words }) => [scope, words])),
  }
}

function collectScopes(text: string, before: Scope[] = []): Scope[] {
  const [scope = '', ...words] = text.trim().split(/ +/)
  return [...before, { scope, words: words.join(' ') }]
}

/** The sections of an organization, and whom each is for: whoever has the scope. */
export const sections = {
  members: 'read',
  domains: 'manage_sso',
  sso: 'manage_sso',
  keys: 'manage_keys',
  settings: 'manage_org',
  activity: 'manage_org',
} as const
export type Section = keyof typeof sections

export function isSection(name: string): name is Section {
  return Object.hasOwn(sections, name)
}

/** Those that somebody with these scopes can use. */
export function sectionsFor(scopes: string[]): Section[] {
  return Object.entries(sections)
    .filter(([, scope]) => scopes.includes(scope))
    .map(([section]) => section)
    .filter(isSection)
}

/** The sections of an organization, each with the scope that it requires. */
export const sections = {
  members: 'read',
  council: 'read',
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

/** Returns the sections that these scopes permit. */
export function visibleSections(scopes: string[]): Section[] {
  return Object.entries(sections)
    .filter(([, scope]) => scopes.includes(scope))
    .map(([section]) => section)
    .filter(isSection)
}

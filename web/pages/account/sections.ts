export const sections = ['identities', 'signing', 'passkeys', 'sessions', 'apps', 'activity', 'data'] as const
export type Section = (typeof sections)[number]

/** The section of a path below `/account`; the first where it names none. */
export function sectionOf(path: string): Section {
  const name = path.split('/')[2]
  return sections.find((section) => section === name) ?? 'identities'
}

export function pathOf(section: Section): string {
  return `/account/${section}`
}

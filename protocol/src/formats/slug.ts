import { limits } from './limits.ts'

/** How a slug is written: it stands in addresses, so it is plain, and never begins or ends with a hyphen. */
export const slugPattern = '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$'

const fallback = 'workspace'

/** The slug that a name suggests. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  return trimHyphens(trimHyphens(plain).slice(0, limits.slugCharactersMax - limits.slugSuffixCharacters)) || fallback
}

/** Never two hyphens stand beside one another here. */
function trimHyphens(text: string): string {
  return text.replaceAll(/^-|-$/g, '')
}

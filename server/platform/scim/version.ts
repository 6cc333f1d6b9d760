import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  version_mismatch: [412, 'The resource has another version than If-Match. Read it again.'],
})

/** Checks whether a header names a version, as entity tags of which any letter case and strength count as sent. */
export function namesVersion(header: string | undefined, version: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(version.replace(/^W\//, ''))
}

/** Throws `version_mismatch` if `If-Match` names other versions (RFC 7644 §3.14). */
export function requireVersion(ifMatch: string | undefined, version: string): void {
  if (ifMatch !== undefined && !namesVersion(ifMatch, version)) throw errors.version_mismatch()
}

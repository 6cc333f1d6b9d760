import { defineErrors } from '#platform/api-error.ts'
import { namesEntityTag } from '#platform/http/entity-tag.ts'

const errors = defineErrors({
  version_mismatch: [412, 'The resource has another version than If-Match. Read it again.'],
})

/** Throws `version_mismatch` if `If-Match` names other versions (RFC 7644 §3.14). */
export function requireVersion(ifMatch: string | undefined, version: string): void {
  if (ifMatch !== undefined && !namesEntityTag(ifMatch, version)) throw errors.version_mismatch()
}

/** Returns the entity tag of a version (RFC 9110 §8.8.3). */
export function entityTagOf(version: number | string): string {
  return `"${version}"`
}

/** Returns the version in an entity tag, whose form the schema `IfMatch` has checked. */
export function versionIn(entityTag: string): number {
  return Number(opaqueVersionIn(entityTag))
}

/** Returns the version in an entity tag, where it is not a number. */
export function opaqueVersionIn(entityTag: string): string {
  return entityTag.replaceAll('"', '')
}

/**
 * Checks whether a header names an entity tag. The comparison is weak, as `If-None-Match` requires (RFC 9110 §13.1.2).
 */
export function namesEntityTag(header: string | undefined, entityTag: string): boolean {
  if (header === undefined) return false
  // The usual header is compared without a copy.
  if (header === entityTag) return true
  const opaque = withoutWeakness(entityTag)
  return header.split(',').some((each) => {
    const sent = each.trim()
    return sent === '*' || withoutWeakness(sent) === opaque
  })
}

function withoutWeakness(entityTag: string): string {
  return entityTag.startsWith('W/') ? entityTag.slice(2) : entityTag
}

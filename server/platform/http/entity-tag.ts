/** Returns the entity tag of a version (RFC 9110 §8.8.3). */
export function entityTagOf(version: number | string): string {
  return `"${version}"`
}

/**
 * Returns the version that `If-Match` names, whose form its schema has checked. Undefined for any: without the header,
 * or for `*`, which any version of what exists matches (RFC 9110 §13.1.1).
 */
export function versionIn(ifMatch: string | undefined): number | undefined {
  const version = opaqueVersionIn(ifMatch)
  return version === undefined ? undefined : Number(version)
}

/** Returns the version that `If-Match` names, where it is not a number. Undefined for any. */
export function opaqueVersionIn(ifMatch: string | undefined): string | undefined {
  return ifMatch === '*' ? undefined : ifMatch?.replaceAll('"', '')
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

/** Returns the entity tag of a version (RFC 9110 §8.8.3). */
export function entityTagOf(version: number): string {
  return `"${version}"`
}

/** Returns the version in an entity tag, whose form the schema `IfMatch` has checked. */
export function versionIn(entityTag: string): number {
  return Number(entityTag.replaceAll('"', ''))
}

import type { ClaimMapping, ClaimPlace } from '@countersign/protocol/clients/claims'
import type { ScopeSet } from '@countersign/protocol/scope-set'

/** Groups and roles of a user, by their keys. Absent if the scope does not give them. */
export type Assigned = { groups?: string[] | undefined; roles?: string[] | undefined }

/** Mapped claims of one user, in the order of their definitions. */
export type MappedClaims = Map<string, string | string[]>

export const literalPrefix = 'literal:'

/** Computes the mapped claims of an app for a user in one place, as far as the scope gives them. */
export function mapClaims(
  mappings: ClaimMapping[],
  { scope, assigned, place }: { scope: ScopeSet; assigned: Assigned; place: ClaimPlace },
): MappedClaims {
  const claims: MappedClaims = new Map()
  for (const mapping of mappings) {
    if (!scope.has(mapping.scope) || !mapping.in.includes(place)) continue
    const value = valueOf(mapping, assigned)
    if (value !== undefined) claims.set(mapping.claim, value)
  }
  return claims
}

/** Returns the value of a claim, or undefined if the user has none and there is no default. */
function valueOf(mapping: ClaimMapping, assigned: Assigned): string | string[] | undefined {
  const values = valuesOf(mapping.source, assigned)
  return values && (mapping.as === 'string' ? oneOf(mapping, values) : allOf(mapping, values))
}

function valuesOf(source: string, { groups, roles }: Assigned): string[] | undefined {
  if (source.startsWith(literalPrefix)) return [source.slice(literalPrefix.length)]
  return source === 'groups' ? groups : roles
}

function oneOf({ first, map, default: otherwise }: ClaimMapping, values: string[]): string | undefined {
  const chosen = first
    ? first.find((key) => values.includes(key))
    : values.find((key) => !map || Object.hasOwn(map, key))
  const value = chosen !== undefined && map ? entryOf(map, chosen) : chosen
  return value ?? otherwise
}

function allOf({ map, default: otherwise }: ClaimMapping, values: string[]): string[] {
  const mapped = map ? values.flatMap((key) => entryOf(map, key) ?? []) : values
  if (mapped.length === 0 && otherwise !== undefined) return [otherwise]
  return [...new Set(mapped)]
}

/** Returns what a map has for a key, which may be the name of a member of every object. */
function entryOf(map: Record<string, string>, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

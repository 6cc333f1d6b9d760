import type { ClientId } from '@countersign/protocol/ids'
import type { DeclaredApp } from '@countersign/protocol/operations/configuration'
import { mappingsOf, replaceClaims } from '#clients/claims/claim.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { readResources } from '#clients/resources/resource.ts'
import { readRoles, replaceRoles } from '#clients/roles/role.ts'
import { afterCommit, type Database, type Transaction } from '#platform/database/database.ts'
import { type Applying, definedValues, type Values } from '../plan.ts'
import { desiredResources, replaceResources, type WholeResource, wholeResource } from './resources.ts'

/**
 * Parts of an app that are replaced as a whole, besides its settings: its roles, who has them, mapped claims, and the
 * resources that it offers.
 */
export type AppParts = Required<Pick<DeclaredApp, 'roles' | 'roleAssignments' | 'claims'>> & {
  resources: WholeResource[]
}

/** Reads the parts of an app as a document declares them. */
export async function readParts(
  db: Database | Transaction,
  { clientId, claims }: Pick<RegisteredApp, 'clientId' | 'claims'>,
): Promise<AppParts> {
  const { roles, roleAssignments } = await readRoles(db, clientId)
  const resources = (await readResources(db, clientId)).map(wholeResource)
  return { roles, roleAssignments: roleAssignments.map(toAssignment), claims, resources }
}

/** Checks whether a document declares any part of an app. */
export function declaresParts({ roles, roleAssignments, claims, resources }: DeclaredApp): boolean {
  return [roles, roleAssignments, claims, resources].some((part) => part !== undefined)
}

/** Returns the parts that a document declares for an app that has others, in the form of `readParts`. */
export function desiredParts(
  { roles, roleAssignments, claims, resources }: DeclaredApp,
  before: AppParts,
): Partial<AppParts> {
  return {
    ...(roles && { roles: roles.map(({ key, displayName = key }) => ({ key, displayName })) }),
    ...(roleAssignments && { roleAssignments: roleAssignments.map(toAssignment).filter(isSome) }),
    ...(claims && { claims: mappingsOf(claims) }),
    ...(resources && { resources: desiredResources(resources, before.resources) }),
  }
}

type Assignment = NonNullable<DeclaredApp['roleAssignments']>[number]

/** Returns an assignment whose lists are there and in order. */
function toAssignment({ role, groups = [], identities = [] }: Assignment) {
  return { role, groups: groups.toSorted(), identities: identities.toSorted() }
}

function isSome({ groups, identities }: ReturnType<typeof toAssignment>): boolean {
  return groups.length + identities.length > 0
}

/** Returns parts as values by path. Assignments are in the order of their roles, which means nothing. */
export function valuesOfParts({ roles, roleAssignments, claims, resources }: Partial<AppParts>): Values {
  const byRole = roleAssignments?.toSorted((one, other) => (one.role < other.role ? -1 : 1))
  const mapped = claims?.map((each) => definedValues({ ...each }))
  return definedValues({ roles, roleAssignments: byRole, claims: mapped, resources })
}

/** Replaces the parts of an app that change. Parts that are not declared stay. Throws as the single endpoints. */
export async function replaceParts(
  applying: Applying,
  clientId: ClientId,
  { before, declared, changed }: { before: AppParts; declared: Partial<AppParts>; changed: ReadonlySet<string> },
): Promise<void> {
  const { tx, operator, apps, now } = applying
  const ref = { operator, clientId }
  const { roles = before.roles, roleAssignments = before.roleAssignments, claims = before.claims } = declared
  if (changed.has('roles') || changed.has('roleAssignments'))
    await replaceRoles(tx, ref, { roles, roleAssignments }, now)
  if (changed.has('claims')) await replaceClaims(tx, ref, { claims }, now)
  if (['roles', 'roleAssignments', 'claims'].some((name) => changed.has(name)))
    afterCommit(tx, () => apps.forgetEverywhere(clientId))
  if (declared.resources && changed.has('resources'))
    await replaceResources(applying, clientId, { before: before.resources, desired: declared.resources })
}

import { isEmail } from '@countersign/protocol/formats/email'
import { isHandle } from '@countersign/protocol/formats/handle'
import { isObject } from '@countersign/protocol/formats/json'
import { type OrganizationRole, scopesOfRole } from '@countersign/protocol/formats/role'

export type Invitee = { handle: string } | { email: string }

/** The most invitations of one form: each is a request of its own. */
export const inviteesMax = 20

/** Parses the username, with or without @, or the e-mail address of a user to invite. */
export function parseInvitee(text: string): Invitee | undefined {
  const written = text.trim()
  if (isEmail(written)) return { email: written }
  const handle = written.replace(/^@/, '')
  return isHandle(handle) ? { handle } : undefined
}

/** Parses several, separated by commas, semicolons, spaces or lines. Returns undefined unless each one is valid. */
export function parseInvitees(text: string): Invitee[] | undefined {
  const written = [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))]
  const found = written.map(parseInvitee)
  const invitees = found.filter((each) => each !== undefined)
  return invitees.length > 0 && invitees.length === found.length ? invitees : undefined
}

/** Returns how people know the invitee. */
export function nameOf(invitee: Invitee): string {
  return 'email' in invitee ? invitee.email : `@${invitee.handle}`
}

/** Invitations of a form that are still to be made. */
export type Rest = { organizationId: string; role: OrganizationRole; names: string[] }

/** Name in session storage, which belongs to this tab alone. */
const restKey = 'inviting'

/** Notes the invitations that follow the one that this tab leaves to sign. */
export function noteRest(rest: Rest | undefined): void {
  try {
    if (rest && rest.names.length > 0) sessionStorage.setItem(restKey, JSON.stringify(rest))
    else sessionStorage.removeItem(restKey)
  } catch {
    // Without storage the user enters the other names again.
  }
}

/** Takes the invitations that are still to be made in an organization, once. */
export function takeRest(organizationId: string): Rest | undefined {
  try {
    const rest: unknown = JSON.parse(sessionStorage.getItem(restKey) ?? 'null')
    sessionStorage.removeItem(restKey)
    return isRest(rest) && rest.organizationId === organizationId ? rest : undefined
  } catch {
    return undefined
  }
}

function isRest(value: unknown): value is Rest {
  if (!isObject(value)) return false
  const { organizationId, role, names } = value
  const isRole = typeof role === 'string' && Object.hasOwn(scopesOfRole, role)
  const areNames = Array.isArray(names) && names.every((name) => typeof name === 'string')
  return typeof organizationId === 'string' && isRole && areNames
}

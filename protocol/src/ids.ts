import { Type } from 'typebox'
import { limits } from './formats/limits.ts'
import { Uuid, isUuid } from './values.ts'

declare const kind: unique symbol

/**
 * Text that is an ID of one kind, so that an ID of another kind does not compile in its place. At run time it is a
 * plain string. Schemas brand what they validate, and columns what they hold. Other text becomes an ID by `isId` or
 * `asId`.
 */
type Id<Kind extends string> = string & { readonly [kind]: Kind }

export type UserId = Id<'user'>
export type IdentityId = Id<'identity'>
export type OrganizationId = Id<'organization'>
export type SessionId = Id<'session'>
export type ClientId = Id<'client'>

type UuidId = UserId | IdentityId | OrganizationId | SessionId
type AnyId = UuidId | ClientId

export const UserId = Type.Unsafe<UserId>(Uuid)
export const IdentityId = Type.Unsafe<IdentityId>(Uuid)
export const OrganizationId = Type.Unsafe<OrganizationId>(Uuid)
export const SessionId = Type.Unsafe<SessionId>(Uuid)

/** ID issued by this service, or the URL of a client metadata document. */
export const ClientId = Type.Unsafe<ClientId>(Type.String({ minLength: 1, maxLength: limits.clientIdCharactersMax }))

/** Checks like `isUuid` whether text has the form of an ID. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the kind.
export function isId<Kind extends UuidId>(text: string): text is Kind {
  return isUuid(text)
}

/**
 * Returns text as an ID without a check, for three cases: a generated ID, an ID from a token whose signature or
 * checksum was verified, and text that is only looked up as a client ID. The kind must be written at each call.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the kind.
export function asId<Kind extends AnyId = AnyId>(text: string): NoInfer<Kind> {
  return text as Kind
}

/** The same type with plain text in place of IDs. */
export type WithPlainIds<T> = T extends AnyId ? string : T extends object ? { [K in keyof T]: WithPlainIds<T[K]> } : T

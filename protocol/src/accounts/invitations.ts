import { type Static, Type } from 'typebox'
import { NoContent, endpoint } from '../endpoint.ts'
import { languageTags } from '../formats/registries/languages.ts'
import { limits } from '../formats/limits.ts'
import { IdentityId } from '../ids.ts'
import { Timestamp, Uuid, WebUrl, nullable } from '../values.ts'
import { GroupKey } from './groups.ts'
import { DisplayName, Handle, Identity, NewIdentity } from './identities.ts'

const operator = { security: 'admin', cors: 'auth host', permission: 'people.invite' } as const

const kind = Type.Enum(['link', 'mail'], {
  type: 'string',
  description: 'link: the operator passes on the link; mail: the service mails it to the address',
})
export const InvitationLanguage = Type.Enum([...languageTags], {
  type: 'string',
  description: 'Language of the mail',
})

const voidReason = Type.Enum(['rights_lost', 'group_protected'], {
  type: 'string',
  description:
    'Why it is void: its operator may no longer invite or manage its groups, or one of these is protected now',
})
export type InvitationVoidReason = Static<typeof voidReason>

/** Invitation to register an account. */
export const AccountInvitation = Type.Object({
  invitationId: Uuid,
  kind,
  email: nullable(Type.String()),
  handle: nullable(Type.String({ description: 'Suggested username' })),
  displayName: nullable(Type.String({ description: 'Suggested display name' })),
  groups: Type.Array(Type.String(), { description: 'Keys of the groups that the new identity joins' }),
  language: InvitationLanguage,
  message: nullable(Type.String()),
  maxUses: Type.Integer(),
  useCount: Type.Integer(),
  status: Type.Enum(['pending', 'used', 'expired', 'void'], { type: 'string' }),
  voidReason: nullable(voidReason),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  mailedAt: nullable(Timestamp),
  identityId: nullable(
    Type.Unsafe<IdentityId>({ ...IdentityId, description: 'The invited identity that it is for, with its names' }),
  ),
  nextMailAt: nullable(
    Type.Unsafe<string>({ ...Timestamp, description: 'When its mail is attempted next; null if none waits' }),
  ),
  createdBy: nullable(
    Type.Unsafe<IdentityId>({
      ...IdentityId,
      description: 'The operator by whose rights it counts; null for ADMIN_TOKEN',
    }),
  ),
})
export type AccountInvitation = Static<typeof AccountInvitation>

export const NewAccountInvitation = Type.Object({
  invitation: AccountInvitation,
  token: Type.Optional(
    Type.String({ description: 'Returned once, and only for a link: a mailed one proves the address' }),
  ),
  url: Type.Optional(WebUrl),
})
export type NewAccountInvitation = Static<typeof NewAccountInvitation>

export const listAccountInvitations = endpoint(
  'GET /api/admin/invitations',
  { ...operator, summary: 'List the invitations to register, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' })),
    }),
  },
  { 200: Type.Object({ invitations: Type.Array(AccountInvitation), nextCursor: nullable(Uuid) }) },
)

export const createAccountInvitation = endpoint(
  'POST /api/admin/invitations',
  { ...operator, summary: 'Invite someone to register an account' },
  {
    body: Type.Object({
      kind,
      email: Type.Optional(Type.String({ maxLength: 320 })),
      handle: Type.Optional(Handle),
      displayName: Type.Optional(DisplayName),
      groups: Type.Optional(
        Type.Array(GroupKey, {
          maxItems: limits.groupsPerInvitationMax,
          uniqueItems: true,
          description: 'Keys of groups; requires groups.manage too',
        }),
      ),
      language: Type.Optional(InvitationLanguage),
      message: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 2000,
          description: '1 to 500 characters in one line, without an address',
        }),
      ),
      maxUses: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: limits.invitationUsesMax,
          description: 'Accounts that a link can register; the default is 1',
        }),
      ),
      expiresAt: Type.Optional(
        Type.String({ maxLength: 40, description: 'One hour to 90 days from now; the default is 7 days' }),
      ),
    }),
  },
  { 201: NewAccountInvitation },
)

const importFaults = [
  'invalid_row',
  'invalid_email',
  'duplicate_email',
  'invalid_handle',
  'invalid_display_name',
  'group_not_found',
  'too_many_groups',
  'permission_denied',
  'managed_elsewhere',
  'reauthentication_required',
  'invalid_language',
  'invalid_expiry',
] as const

/** Columns of a file of invitations. `email` must be present. */
export const importColumns = ['email', 'handle', 'displayName', 'groups', 'language', 'expiresInDays'] as const
export type ImportColumn = (typeof importColumns)[number]

export const InvitationImportRow = Type.Object({
  row: Type.Integer({ description: 'Number of the row in the file, whose header is row 1' }),
  email: Type.String({ description: 'As it is in the file' }),
  status: Type.Enum(['ok', 'already_invited', 'failed'], {
    type: 'string',
    description:
      'already_invited: a mailed invitation to this address is listed as pending or used, so that none is sent',
  }),
  invitationId: nullable(Uuid),
  errors: Type.Array(
    Type.Object({
      field: nullable(Type.Enum([...importColumns], { type: 'string' })),
      code: Type.Enum([...importFaults], { type: 'string' }),
      message: Type.String(),
    }),
  ),
})
export type InvitationImportRow = Static<typeof InvitationImportRow>
export type ImportError = InvitationImportRow['errors'][number]

export const InvitationImport = Type.Object({
  importId: nullable(
    Type.Unsafe<string>({ ...Uuid, description: 'Names the import in the audit log; null for a check' }),
  ),
  total: Type.Integer(),
  ok: Type.Integer({ description: 'Rows that are invited, or would be' }),
  failed: Type.Integer(),
  rows: Type.Array(InvitationImportRow),
})
export type InvitationImport = Static<typeof InvitationImport>

export const importAccountInvitations = endpoint(
  'POST /api/admin/invitations/import',
  {
    ...operator,
    consumes: 'text/csv',
    summary: 'Invite many people by a CSV file (email,handle,displayName,groups,language,expiresInDays), or check it',
  },
  {
    querystring: Type.Object({
      dryRun: Type.Optional(
        Type.Enum(['true', 'false'], { type: 'string', description: 'true, the default: checks the file alone' }),
      ),
      onError: Type.Optional(
        Type.Enum(['abort', 'skip'], {
          type: 'string',
          description: 'abort, the default: one bad row, and no one is invited; skip: the other rows are',
        }),
      ),
    }),
  },
  { 200: InvitationImport },
)

const ByInvitationId = Type.Object({ invitationId: Uuid })

export const getAccountInvitation = endpoint(
  'GET /api/admin/invitations/:invitationId',
  { ...operator, summary: 'Get an invitation to register' },
  { params: ByInvitationId },
  { 200: AccountInvitation },
)

export const deleteAccountInvitation = endpoint(
  'DELETE /api/admin/invitations/:invitationId',
  { ...operator, summary: 'Delete an invitation to register: its link ends' },
  { params: ByInvitationId },
  { 204: NoContent },
)

export const resendAccountInvitation = endpoint(
  'POST /api/admin/invitations/:invitationId/resend',
  { ...operator, summary: 'Mail an invitation again with a new link, for its whole lifetime' },
  { params: ByInvitationId },
  { 200: AccountInvitation },
)

/** What the person who has the link sees before they register. */
export const AccountInvitationPreview = Type.Object({
  handle: nullable(Type.String()),
  displayName: nullable(Type.String()),
  email: nullable(Type.String()),
  message: nullable(Type.String()),
  areNamesFixed: Type.Boolean({ description: 'The identity has exactly this handle and displayName' }),
})
export type AccountInvitationPreview = Static<typeof AccountInvitationPreview>

export const previewAccountInvitation = endpoint(
  'POST /api/auth/register/invitation',
  { security: 'none', cors: 'first party', summary: 'Get an invitation to register by its token' },
  { body: Type.Object({ invitation: Type.String({ maxLength: 200, writeOnly: true }) }) },
  { 200: AccountInvitationPreview },
)

export const acceptAccountInvitation = endpoint(
  'POST /api/identities/invited',
  { security: 'session', cors: 'first party', summary: 'Add an identity by an invitation to register' },
  {
    body: Type.Object({
      ...NewIdentity.properties,
      invitation: Type.String({ maxLength: 200, writeOnly: true }),
    }),
  },
  { 201: Identity },
)

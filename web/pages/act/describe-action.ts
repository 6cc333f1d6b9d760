import type { BusinessWords } from './words.ts'
import { linesOf, findSuspiciousCharacters } from '../../lib/text/text-inspection.ts'
import type { LabelledValue } from '../../lib/text/scope-words.ts'
import type { SignActionRequest } from './action.ts'
import type { ActionSubject } from './subject.ts'

/** An action in words: what is done, its details, and what ends with it. */
export type ActionDescription = { does: string; facts: LabelledValue[]; ends: string | undefined }

/** Describes an action. Its kind and fields come from the signed text, names from the server. */
export function describeAction(
  { action, details }: SignActionRequest,
  subject: ActionSubject,
  words: BusinessWords,
): ActionDescription {
  const { organization, what, isOwn } = subject
  const does: Partial<Record<string, string>> = words.acts
  const named = [
    ...(what ? [fact(what.kind, words.concerns[what.kind], what.name)] : []),
    fact('organization', words.concerns.organization, organization),
  ]
  return {
    does: isOwn && action === 'organization.member.removed' ? words.leaveTitle(organization) : (does[action] ?? action),
    facts: [...named, ...describeFields(details, words)],
    ends: actionConsequence(action, isOwn, words),
  }
}

function fact(scope: string, label: string, value: string): LabelledValue {
  return { scope, label, value }
}

function actionConsequence(action: string, isOwn: boolean, words: BusinessWords): string | undefined {
  switch (action) {
    case 'organization.deleted':
      return `${words.deletion.what} ${words.deletion.forever}`
    case 'organization.member.removed':
      return isOwn ? words.leaveWhat : words.removeWhat
    case 'organization.domain.removed':
      return words.domains.removeWhat
    case 'organization.key.deleted':
      return words.keys.removeWhat
    case 'sso.connection.deleted':
      return words.sso.removeWhat
    default:
      return undefined
  }
}

/** Describes the fields that have a label. Only the exact text shows misleading characters, and marks them. */
function describeFields(details: SignActionRequest['details'], words: BusinessWords): LabelledValue[] {
  return Object.entries(details).flatMap(([name, value]) => {
    const describe = fieldsIn(words)[name]
    const described = describe?.(value)
    return described === undefined || findSuspiciousCharacters(linesOf(described.value)).size > 0
      ? []
      : [{ scope: name, ...described }]
  })
}

type DescribeField = (value: unknown) => { label: string; value: string } | undefined

function fieldsIn(words: BusinessWords): Partial<Record<string, DescribeField>> {
  const { sso, keys, signedActs, sections, directory } = words
  return {
    name: text(words.name),
    slug: text(words.slug),
    logoUrl: text(words.logo),
    role: oneOf(words.role, words.roles),
    scopes: someOf(words.mayDo, words.scopes),
    signingAuthority: either(words.hasAuthority, words.concerns.yes, words.concerns.no),
    handle: (value) => text(words.whom)(typeof value === 'string' ? `@${value}` : value),
    email: text(words.whom),
    ssoRequired: either(sections.sso, sso.require, sso.letWithout),
    requireSignedActions: either(signedActs.title, signedActs.require, signedActs.letUnsigned),
    approvalsNeeded: text(words.approvals.needed),
    encryptionMode: oneOf(keys.keeper, keys.modes),
    url: text(keys.kms),
    domain: text(words.domains.domain),
    domains: someOf(sections.domains),
    enabled: either(sections.sso, sso.enable, sso.disable),
    subjectBy: oneOf(directory.by, { externalId: 'externalId', email: directory.ways.email.label }),
    oidc: field(sso.fields.issuer, 'issuer'),
    saml: field(sso.fields.metadataUrl, 'metadataUrl'),
  }
}

function text(label: string): DescribeField {
  return (value) =>
    typeof value === 'string' || typeof value === 'number' ? { label, value: String(value) } : undefined
}

function either(label: string, yes: string, no: string): DescribeField {
  return (value) => (typeof value === 'boolean' ? { label, value: value ? yes : no } : undefined)
}

function oneOf(label: string, names: Record<string, string>): DescribeField {
  return (value) => someOf(label, names)([value])
}

function someOf(label: string, names: Record<string, string> = {}): DescribeField {
  return (value) => {
    if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return undefined
    return { label, value: value.map((each) => (Object.hasOwn(names, each) ? names[each] : each)).join(', ') }
  }
}

function field(label: string, name: string): DescribeField {
  return (value) => (typeof value === 'object' && value !== null ? text(label)(Reflect.get(value, name)) : undefined)
}

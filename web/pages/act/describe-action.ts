import type { BusinessWords } from '../business/words.ts'
import { linesOf, odditiesIn } from '../../lib/text/exact-text.ts'
import type { Fact } from '../../lib/text/scope-words.ts'
import type { AskedAct } from './act.ts'
import type { Concern } from './subject.ts'

/** An act in words: what is done, to whom or what, and what ends with it. */
export type Told = { does: string; facts: Fact[]; ends: string | undefined }

/** Tells an act: its kind and its fields from what is signed, and names from the service. */
export function tellAct({ action, details }: AskedAct, concern: Concern, words: BusinessWords): Told {
  const { organization, what, isOwn } = concern
  const does: Partial<Record<string, string>> = words.acts
  const named = [
    ...(what ? [fact(what.kind, words.concerns[what.kind], what.name)] : []),
    fact('organization', words.concerns.organization, organization),
  ]
  return {
    does: isOwn && action === 'organization.member.removed' ? words.leaveTitle(organization) : (does[action] ?? action),
    facts: [...named, ...tellFields(details, words)],
    ends: whatEnds(action, isOwn, words),
  }
}

function fact(scope: string, label: string, value: string): Fact {
  return { scope, label, value }
}

function whatEnds(action: string, isOwn: boolean, words: BusinessWords): string | undefined {
  switch (action) {
    case 'organization.deleted':
      return `${words.deletion.what} ${words.deletion.forever}`
    case 'organization.member.removed':
      return isOwn ? words.leaveWhat : words.removeWhat
    case 'organization.domain.removed':
      return words.domains.removeWhat
    case 'organization.key.deleted':
      return words.keys.removeWhat
    case 'sso.connection_deleted':
      return words.sso.removeWhat
    default:
      return undefined
  }
}

/** The fields for which there are words. What deceives the eye is told by the exact text alone, which marks it. */
function tellFields(details: AskedAct['details'], words: BusinessWords): Fact[] {
  return Object.entries(details).flatMap(([name, value]) => {
    const tell = fieldsIn(words)[name]
    const told = tell?.(value)
    return told === undefined || odditiesIn(linesOf(told.value)).size > 0 ? [] : [{ scope: name, ...told }]
  })
}

type Tell = (value: unknown) => { label: string; value: string } | undefined

function fieldsIn(words: BusinessWords): Partial<Record<string, Tell>> {
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

function text(label: string): Tell {
  return (value) =>
    typeof value === 'string' || typeof value === 'number' ? { label, value: String(value) } : undefined
}

function either(label: string, yes: string, no: string): Tell {
  return (value) => (typeof value === 'boolean' ? { label, value: value ? yes : no } : undefined)
}

function oneOf(label: string, names: Record<string, string>): Tell {
  return (value) => someOf(label, names)([value])
}

function someOf(label: string, names: Record<string, string> = {}): Tell {
  return (value) => {
    if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return undefined
    return { label, value: value.map((each) => (Object.hasOwn(names, each) ? names[each] : each)).join(', ') }
  }
}

function field(label: string, name: string): Tell {
  return (value) => (typeof value === 'object' && value !== null ? text(label)(Reflect.get(value, name)) : undefined)
}

import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { dayOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Copies } from '../../../components/display/Copies.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { act, signedOr, type Act } from '../session/acts.ts'
import { useGuardedQuestion } from '../session/asking.ts'
import { ChangeSsoConnection } from './ChangeSsoConnection.tsx'
import { ConfirmSsoConnection } from './ConfirmSsoConnection.tsx'
import { Directory } from './Directory.tsx'
import { EncryptionKey } from './EncryptionKey.tsx'
import { aboutConnection } from '../session/memberships.ts'
import { Question } from '../session/Question.tsx'
import { callBusiness, withFreshProof } from '../session/session.ts'
import { useBusinessWords, type BusinessWords } from '../words.ts'

const one = '/api/organizations/:organizationId/sso-connections/:connectionId'

type Props = {
  of: SsoConnection
  /** The verified domains of the organization. */
  domains: string[]
  organization: OwnOrganization
  onChanged: () => unknown
}

/** A connection: how it stands, what its provider must know, and what can be done. */
export function SsoConnectionEntry({ of: connection, domains, organization, onChanged }: Props) {
  const { sso: words } = useBusinessWords()
  const doing = useDoing()
  const { connectionId, name, enabled, testedAt, confirmedAt, saml, scim } = connection
  const changing = useGuardedQuestion(`change-${connectionId}`)
  const provisioning = useGuardedQuestion(`directory-${connectionId}`)
  const encrypting = useGuardedQuestion(`encryption-${connectionId}`)
  const deleting = useGuardedQuestion(`delete-${connectionId}`)
  const given = aboutConnection(organization, connection)
  const asked = { given, onChanged }
  const mayMake = organization.scopes.includes('manage_org')
  const turn = async () => {
    await act(`PATCH ${one}`, { ...given, body: { enabled: !enabled } })
    await onChanged()
  }
  const removeBy = async (how: Act) => {
    await how(`DELETE ${one}`, { ...given, body: null })
    deleting.close()
    await onChanged()
  }
  const agree: Action = { name: 'delete-connection', label: words.removeNow, do: () => removeBy(act) }
  const directory: Action = {
    name: `directory-${connectionId}`,
    label: scim ? words.directory : words.addDirectory,
    look: 'quiet',
    do: provisioning.ask,
  }
  const encryption: Action = {
    name: `encryption-${connectionId}`,
    label: words.encryption,
    look: 'quiet',
    do: encrypting.ask,
  }
  const actions: Action[] = [
    {
      name: `test-${connectionId}`,
      label: words.test,
      look: testedAt === null ? 'primary' : 'secondary',
      do: () => withFreshProof(async () => location.assign((await callBusiness(`POST ${one}/test`, given)).url)),
    },
    { name: `change-${connectionId}`, label: words.change, look: 'quiet', do: changing.ask },
    ...(scim || mayMake ? [directory] : []),
    ...(saml ? [encryption] : []),
    { name: `enable-${connectionId}`, label: enabled ? words.disable : words.enable, look: 'quiet', do: turn },
    { name: `delete-${connectionId}`, label: words.remove, look: 'quiet', do: () => signedOr(removeBy, deleting.ask) },
  ]
  return (
    <li class="entry domain">
      <div>
        <h2>{name}</h2>
        <Standing of={connection} words={words} />
      </div>
      <Copies of={[...toldToProvider(connection, words), ...toldToDirectory(connection, words)]} />
      {confirmedAt === null && organization.role === 'owner' && <ConfirmSsoConnection {...asked} of={connection} />}
      <Actions of={actions} doing={doing} />
      {changing.asked && <ChangeSsoConnection {...asked} of={connection} domains={domains} onClose={changing.close} />}
      {provisioning.asked && <Directory {...asked} of={connection} mayMake={mayMake} onClose={provisioning.close} />}
      {encrypting.asked && <EncryptionKey {...asked} of={connection} onClose={encrypting.close} />}
      {deleting.asked && (
        <Question title={words.removeTitle(name)} agree={agree} onClose={deleting.close}>
          {words.removeWhat}
        </Question>
      )}
    </li>
  )
}

type StandingProps = { of: SsoConnection; words: BusinessWords['sso'] }

function Standing({ of: connection, words }: StandingProps) {
  const { language } = useSpeech()
  const { enabled, testedAt, confirmedAt, oidc, saml } = connection
  const tested = testedAt === null ? words.untested : words.tested(dayOf(testedAt, language, new Date()))
  return (
    <>
      <p>{oidc?.issuer ?? saml?.entityId}</p>
      <p>{enabled ? tested : words.disabled}</p>
      {enabled && confirmedAt === null && <p>{words.unconfirmed}</p>}
      {enabled && <p>{whoJoins(connection, words)}</p>}
    </>
  )
}

function whoJoins({ domains, scim }: SsoConnection, words: BusinessWords['sso']): string {
  if (scim) return words.directed
  return domains.length === 0 ? words.noDomains : words.joins(domains.join(', '))
}

function toldToProvider({ oidc, saml }: SsoConnection, words: BusinessWords['sso']) {
  if (oidc) return [{ label: words.callback, value: oidc.callbackUrl, action: 'copy-callback' }]
  if (!saml) return []
  return [
    { label: words.ourMetadata, value: saml.metadataUrl, action: 'copy-metadata' },
    { label: words.acs, value: saml.acsUrl, action: 'copy-acs' },
  ]
}

function toldToDirectory({ scim }: SsoConnection, words: BusinessWords['sso']) {
  return scim ? [{ label: words.scimAddress, value: scim.baseUrl, action: 'copy-directory-address' }] : []
}

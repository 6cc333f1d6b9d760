import { normalizeDomain } from '@countersign/protocol/formats/domain'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { act } from '../session/acts.ts'
import { isText, useKeptState } from '../session/kept-input.ts'
import { verificationMessage, type VerificationOutcome } from './domain-verdict.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

type Props = { organization: OwnOrganization; isFirst: boolean; onClaimed: (domain: OrganizationDomain) => void }

export function NewDomain({ organization, isFirst, onClaimed }: Props) {
  const words = useBusinessMessages().domains
  const doing = useActions()
  const [typed, setTyped] = useKeptState('new-domain.domain', '', isText)
  const [verdict, setVerdict] = useState<VerificationOutcome>()
  const claim: Action = {
    name: 'claim-domain',
    label: words.claim,
    look: isFirst ? 'primary' : 'secondary',
    do: async () => {
      const domain = normalizeDomain(typed.trim())
      if (domain === undefined) return setVerdict('invalid')
      try {
        const given = { ...memberContext(organization), body: { domain } }
        const claimed = await act('POST /api/organizations/:organizationId/domains', given)
        onClaimed(claimed.domain)
        setTyped('')
      } catch (error) {
        setVerdict(verificationMessage(error))
      }
    },
  }
  return (
    <ActionForm submit={claim} doing={doing}>
      <Field
        name="domain"
        label={words.domain}
        hint={words.hint}
        value={typed}
        onInput={(text) => {
          setVerdict(undefined)
          setTyped(text)
        }}
        problem={verdict && words.verdicts[verdict]}
        keys="url"
        exact
      />
    </ActionForm>
  )
}

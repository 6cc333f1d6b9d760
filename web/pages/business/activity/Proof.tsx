import type { NamedIdentity } from '@countersign/protocol/operations/audit'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Paraph } from '../../../components/signature/Signature.tsx'
import { Chip, Note } from '../../../components/ui/Chip.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { Facts } from '../../../components/ui/Facts.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { momentOf } from '../../../lib/text/dates.ts'
import type { Proof as ReadProof, ProvedSignature } from './read-proof.ts'
import { useOrganizationActivityMessages } from './words.ts'
import { joinNames } from '../../../lib/text/lists.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = { organization: OwnOrganization; sequence: number; people: NamedIdentity[]; sentence: ComponentChildren }

/** A chip that opens the proof of a signed event. The proof is read and verified when it is opened. */
export function Proof({ organization, sequence, people, sentence }: Props) {
  const words = useOrganizationActivityMessages().proof
  const doing = useActions()
  const [proof, setProof] = useState<ReadProof>()
  const verify: Action = {
    name: 'verify-again',
    label: words.again,
    look: 'secondary',
    icon: 'refresh-cw',
    do: async () => {
      const { readProof } = await import('./read-proof.ts')
      setProof(await readProof(organization, sequence, people))
    },
  }
  const open = (isOpen: boolean) => {
    if (isOpen && !proof) void doing.perform(verify)
  }
  return (
    <details class="proof" data-action="proof" onToggle={(event) => open(event.currentTarget.open)}>
      <summary>
        <Chip tone="ok" icon="signature">
          {words.signed}
        </Chip>
        <span class="small soft">{words.show}</span>
        <Icon name="chevron-down" size="sm" />
      </summary>
      <div class="proof-body signed">
        {!proof && doing.problem === undefined && (
          <p class="small soft" role="status">
            {words.verifying}
          </p>
        )}
        {proof && <Content of={proof} sentence={sentence} />}
        <ErrorMessage of={doing.problem} />
        {(proof || doing.problem !== undefined) && (
          <div class="row">
            {proof && <CopyButton text={proof.record} action="copy-proof" what={words.copy} />}
            <ActionButton action={verify} doing={doing} />
          </div>
        )}
      </div>
    </details>
  )
}

function Content({
  of: { verdict, details, signatures, record },
  sentence,
}: {
  of: ReadProof
  sentence: ComponentChildren
}) {
  const words = useOrganizationActivityMessages().proof
  const { language } = useLocale()
  const [first, ...approvals] = signatures
  return (
    <>
      {first && <Signer of={first} />}
      <Facts
        of={[
          { label: words.text, value: details ? sentence : words.erased },
          ...(first ? factsOf(first, words, language) : []),
          ...(approvals.length > 0 ? [{ label: words.approvals, value: joinNames(approvals.map(nameOf)) }] : []),
        ]}
      />
      <Verdict of={verdict} />
      <Disclosure summary={words.exact}>
        <pre class="exact-record">{JSON.stringify(JSON.parse(record), null, 2)}</pre>
      </Disclosure>
    </>
  )
}

type Words = ReturnType<typeof useOrganizationActivityMessages>['proof']

function factsOf({ at, key, signature, signer }: ProvedSignature, words: Words, language: string) {
  const signed = { label: words.at, value: momentOf(at, language) }
  const bytes = {
    label: words.signature,
    value: <code>{`Ed25519 ${signature.slice(0, 8)}…${signature.slice(-8)}`}</code>,
  }
  if (!key) return [signed, bytes]
  const since = momentOf(key.createdAt, language)
  const shown = {
    label: words.key,
    value: <code>{key.fingerprint}</code>,
    note: words.keyOf(signer?.handle ?? '', since),
  }
  return [signed, shown, bytes]
}

function nameOf({ signer }: ProvedSignature): string {
  return signer ? `${signer.displayName} (${atHandle(signer.handle)})` : ''
}

function Signer({ of: { signer, key } }: { of: ProvedSignature }) {
  if (!signer) return null
  return (
    <div class="proof-sign">
      <p class="signature-name">
        {signer.displayName}
        {key && <Paraph fingerprint={key.fingerprint} />}
      </p>
    </div>
  )
}

function Verdict({ of: verdict }: { of: ReadProof['verdict'] }) {
  const words = useOrganizationActivityMessages().proof
  if (verdict === 'verified')
    return (
      <Note tone="ok" role="status">
        <strong>{words.verified}</strong>
        <p>{words.verifiedWhat}</p>
      </Note>
    )
  if (verdict === 'no key')
    return (
      <Note tone="wait" role="status">
        {words.noKey}
      </Note>
    )
  return (
    <Note tone="bad" role="alert">
      <strong>{words.invalid}</strong>
      <p>{words.invalidWhat}</p>
    </Note>
  )
}

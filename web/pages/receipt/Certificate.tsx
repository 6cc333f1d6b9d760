import type { ComponentChildren } from 'preact'
import { BreakableText } from '../../components/display/BreakableText.tsx'
import { ExactText } from '../../components/display/ExactText.tsx'
import { useFingerprint } from '../../components/display/fingerprint.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { useLocale } from '../../components/frame/Root.tsx'
import { Seal, Signature } from '../../components/signature/Signature.tsx'
import { sealText } from '../../components/display/seal-text.ts'
import { Chip, Note } from '../../components/ui/Chip.tsx'
import { type Fact, Facts } from '../../components/ui/Facts.tsx'
import { momentOf } from '../../lib/text/dates.ts'
import type { ReceiptContent, SignedBy } from './content.ts'
import type { Verification, Verified } from './verification.ts'
import { useReceiptMessages } from './words.ts'
import { atHandle } from '../../lib/text/handle.ts'

type Props = {
  verification: Verification
  payload: string
  /** Display names of the user's own identities; of all others the receipt has the username alone. */
  names: Map<string, string>
  children: ComponentChildren
}

/** Shows what a receipt proves, as a certificate; or why it proves nothing. */
export function Certificate({ verification, payload, names, children }: Props) {
  const texts = useReceiptMessages()
  if ('flaw' in verification)
    return (
      <section class="certificate" data-flaw={verification.flaw}>
        <div class="certificate-head">
          <Chip tone="bad" icon="x">
            {texts.notVerified}
          </Chip>
          <StepHeading>{texts.title}</StepHeading>
          <p class="lead">{texts.flawLead}</p>
        </div>
        <Note tone="bad" role="alert">
          {texts.flaws[verification.flaw]}
        </Note>
        <ExactText text={payload} label={texts.text} />
        {children}
      </section>
    )
  return <Proof verified={verification} payload={payload} names={names} actions={children} />
}

type ProofProps = { verified: Verified; actions: ComponentChildren } & Pick<Props, 'payload' | 'names'>

function Proof({ verified: { content, entries, unproved }, payload, names, actions }: ProofProps) {
  const texts = useReceiptMessages()
  const { language } = useLocale()
  const time = momentOf(content.resolvedAt, language)
  const [first] = content.signedBy
  const fingerprint = useFingerprint(first?.publicKey ?? '')
  return (
    <section class="certificate" data-verified={content.requestId}>
      <div class="certificate-head">
        <Chip tone="ok" icon="shield-check">
          {texts.verified}
        </Chip>
        <StepHeading>{texts.title}</StepHeading>
        <p class="lead">{texts.verifiedLead(time)}</p>
      </div>
      <div class="certificate-sign signed">
        {content.signedBy.map((signer, index) => (
          <SignerLine key={signer.identityId} signer={signer} content={content} names={names} isFirst={index === 0} />
        ))}
        {fingerprint !== undefined && <Seal fingerprint={fingerprint} text={sealText(time, fingerprint)} />}
      </div>
      {unproved.map((property) => (
        <Note key={property} tone="wait">
          {texts.unproved[property]}
        </Note>
      ))}
      <ExactText text={payload} label={texts.text} />
      <Facts of={useFacts(content, entries)} isRuled />
      {actions}
    </section>
  )
}

type SignerProps = { signer: SignedBy; content: ReceiptContent; names: Props['names']; isFirst: boolean }

function SignerLine({ signer: { handle, identityId, role, publicKey, at }, content, names, isFirst }: SignerProps) {
  const texts = useReceiptMessages()
  const { language } = useLocale()
  const fingerprint = useFingerprint(publicKey)
  const name = names.get(identityId) ?? handle ?? identityId
  const app = content.app?.name ?? content.clientId
  const shown = handle === undefined ? identityId : atHandle(handle)
  return (
    <div class={isFirst ? undefined : 'other-signer'}>
      <Signature
        name={name}
        below={
          <>
            <span>{role === 'self' ? texts.forApp(shown, app) : `${shown} · ${texts.roles[role]}`}</span>
            <time dateTime={at}>{momentOf(at, language)}</time>
          </>
        }
        isSigned
        fingerprint={fingerprint ?? ''}
      />
    </div>
  )
}

function useFacts(content: ReceiptContent, entries: number): Fact[] {
  const { facts, logged } = useReceiptMessages()
  const { app, clientId, organization, signedBy, requestId, payloadSha256, log, issuer } = content
  return [
    {
      label: facts.app,
      value: app?.name ?? clientId,
      note: app ? app.origins.map((origin) => URL.parse(origin)?.host ?? origin).join(' · ') : undefined,
    },
    ...(organization === undefined ? [] : [{ label: facts.organization, value: organization }]),
    {
      label: facts.key,
      value: (
        <>
          {signedBy.map(({ publicKey, identityId }) => (
            <Fingerprint key={identityId} publicKey={publicKey} />
          ))}
        </>
      ),
    },
    { label: facts.log, value: <BreakableText text={logged(entries, log)} /> },
    ...(issuer === undefined ? [] : [{ label: facts.issuer, value: <BreakableText text={issuer} /> }]),
    { label: facts.request, value: <code>{requestId}</code> },
    { label: facts.digest, value: <code>{payloadSha256}</code> },
  ]
}

function Fingerprint({ publicKey }: { publicKey: string }) {
  return <code class="fingerprint">{useFingerprint(publicKey) ?? '…'}</code>
}

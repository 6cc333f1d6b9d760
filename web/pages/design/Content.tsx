import { CopyableFields } from '../../components/display/Copies.tsx'
import { ExactText } from '../../components/display/ExactText.tsx'
import { Seal, Signature } from '../../components/signature/Signature.tsx'
import { Avatar, Person } from '../../components/ui/Avatar.tsx'
import { Card, Empty, Skeleton } from '../../components/ui/Card.tsx'
import { Chip, Note } from '../../components/ui/Chip.tsx'
import { CodeBlock, Copyable, QrCode } from '../../components/ui/Code.tsx'
import { Disclosure } from '../../components/ui/Disclosure.tsx'
import { Facts, Permits } from '../../components/ui/Facts.tsx'

const fingerprint = '8F3A C41D 77E2 905B'
const text = 'Transfer EUR 1,250.00\nto: Babbage Instruments\ndate: 2026-11-23'

/** States, people, texts and signatures. */
export function Content() {
  return (
    <div class="grid-2">
      <Card title="Chips">
        <div class="row">
          <Chip>Neutral</Chip>
          <Chip tone="pen">Owner</Chip>
          <Chip tone="ok" icon="signature">
            Signed
          </Chip>
          <Chip tone="wait" icon="clock">
            Waiting
          </Chip>
          <Chip tone="bad" icon="ban">
            Refused
          </Chip>
        </div>
        <div class="row">
          {['Ada', 'Jonas', 'Priya', 'Tomás', 'Lena', 'Kenji', 'Rosa', 'Mina'].map((name) => (
            <Avatar key={name} name={name} />
          ))}
        </div>
        <div class="row">
          <Avatar name="Orrery" kind="app" />
          <Avatar name="Analytical Engines" kind="organization" />
          <Person name="Ada Lovelace" detail="@ada" avatar={<Avatar name="Ada Lovelace" size="sm" />} />
        </div>
      </Card>
      <Card title="Notes">
        <Note>It ends in ten minutes.</Note>
        <Note tone="ok">You’re back in. The old code no longer works; here is your new one.</Note>
        <Note tone="wait">No e-mail address on @notes.</Note>
        <Note tone="bad">Your passkey couldn’t unlock your signing key.</Note>
      </Card>
      <Card title="Facts">
        <Facts
          of={[
            { label: 'Signing key', value: <code>{fingerprint}</code>, note: 'Since 4 March 2026' },
            { label: 'Request', value: <code>sig_7c19e0b2</code> },
          ]}
        />
        <Permits
          of={[
            { key: 'a', text: 'Reads your calendar', isAllowed: true, note: 'calendar.read' },
            { key: 'b', text: 'Deletes events', isAllowed: false },
          ]}
        />
        <Disclosure summary="What exactly is signed" icon="scan-line">
          <ExactText text={text} label="Text" />
        </Disclosure>
      </Card>
      <Card title="Signature">
        <Signature name="Ada Lovelace" below={<span>@ada</span>} isSigned={false} />
        <Signature name="Ada Lovelace" below={<span>@ada</span>} isSigned isNow fingerprint={fingerprint} />
        <Seal fingerprint={fingerprint} text="COUNTERSIGNED · 22 NOVEMBER 2026 · KEY 8F3A C41D" />
      </Card>
      <Codes />
      <Card title="Empty and loading" flush>
        <Empty icon="signature" title="Nothing to sign">
          <p>When an app requests your signature, the request waits here.</p>
        </Empty>
        <Skeleton rows={2} />
      </Card>
    </div>
  )
}

function Codes() {
  return (
    <Card title="Codes">
      <CodeBlock label="Node" action="copy-example" code={"import { signIn } from '@countersign/sdk'"} />
      <Copyable label="Client ID" action="copy-client" value="app_7c19e0b2" />
      <CopyableFields of={[{ label: 'Issuer', value: 'https://id.example.com', action: 'copy-issuer' }]} />
      <QrCode text="https://id.example.com/account" label="Address of your account" />
    </Card>
  )
}

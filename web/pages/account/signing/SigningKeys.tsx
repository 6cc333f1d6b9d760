import type { SigningKey } from '@countersign/protocol/signing/keys'
import { useEffect, useState } from 'preact/hooks'
import { dayOf, momentOf } from '../../../lib/text/dates.ts'
import type { Session } from '../../../lib/session/session.ts'
import { useLocale } from '../words.ts'
import { Icon } from '../../../components/ui/Icon.tsx'
import { fingerprintOf } from '../../../lib/text/fingerprint.ts'
import type { SigningKeyOwner } from './key-steps.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Identity = Session['identities'][number]
type Props = { identities: Identity[]; keys: SigningKey[]; onChange: (subject: SigningKeyOwner) => void }

/** Shows the signing key of each identity: its fingerprint, the time since it is current, and the previous keys. */
export function SigningKeys({ identities, keys, onChange }: Props) {
  const { words, language } = useLocale()
  const { make, makeOf, replace, replaceOf, none, madeOn, replacedOn } = words.signing
  const now = new Date()
  return (
    <ul class="list">
      {identities.map(({ identityId, handle }) => {
        const key = keys.find((each) => each.identityId === identityId)
        const since = key && (key.rotatedAt ?? key.createdAt)
        const day = since && dayOf(since, language, now)
        return (
          <li key={identityId}>
            <span class="glyph pen" aria-hidden="true">
              <Icon name="key-round" />
            </span>
            <div class="body">
              <strong>{atHandle(handle)}</strong>
              {key ? <Fingerprint publicKey={key.publicKey} /> : <p>{none}</p>}
              {day && <p>{key.rotatedAt ? replacedOn(day) : madeOn(day)}</p>}
              {key && key.former.length > 0 && <Former keys={key.former} />}
            </div>
            <div class="acts">
              <button
                type="button"
                class="button"
                data-action={key ? 'replace-key' : 'make-key'}
                data-identity-id={identityId}
                aria-label={key ? replaceOf(handle) : makeOf(handle)}
                onClick={() => onChange({ identityId, handle, key })}
              >
                {key ? replace : make}
              </button>
            </div>
          </li>
        )
      })}
    </ul>
  )
}

function Former({ keys }: { keys: SigningKey['former'] }) {
  const { words, language } = useLocale()
  return (
    <details>
      <summary>{words.signing.former(keys.length)}</summary>
      <ul>
        {keys.map(({ keyVersion, publicKey, createdAt, endedAt }) => (
          <li key={keyVersion}>
            <Fingerprint publicKey={publicKey} />
            <p>{words.signing.between(momentOf(createdAt, language), momentOf(endedAt, language))}</p>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** As long as any fingerprint. It reserves the room until the fingerprint is computed, so that nothing moves. */
const blank = Array<string>(8).fill('0000').join(' ')

function Fingerprint({ publicKey }: { publicKey: string }) {
  const words = useLocale().words.signing
  const [text, setText] = useState<string>()
  useEffect(() => void fingerprintOf(publicKey).then(setText), [publicKey])
  return (
    <p>
      <span class="aside">{words.fingerprint}</span>{' '}
      <code class={text === undefined ? 'fingerprint blank' : 'fingerprint'}>{text ?? blank}</code>
    </p>
  )
}

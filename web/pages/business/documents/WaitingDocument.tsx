import type { OrganizationDocument } from '@countersign/protocol/signing/organization-documents'
import { momentOf } from '../../../lib/text/dates.ts'
import { timeLeftUntil } from '../../../lib/text/time-left.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { FirstLine, spellOut } from '../../../components/display/ExactText.tsx'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import type { Documents } from './Documents.tsx'
import { progressOf, waitsForUser } from './progress.ts'
import { useDocumentMessages } from './words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = { document: OrganizationDocument; of: Documents }

/** A document that waits for members: what is asked, by which app, and who has signed. */
export function WaitingDocument({ document, of }: Props) {
  const words = useDocumentMessages()
  const { language } = useLocale()
  const { requestId, app, title, createdAt, expiresAt } = document
  const { authUrl } = readSiteSettings()
  const isWaiting = waitsForUser(document, of)
  const id = `document-${requestId}`
  return (
    <article class={isWaiting ? 'card flush accent' : 'card flush'} aria-labelledby={id} data-request-id={requestId}>
      <div class="doc">
        <div class="stack">
          <div class="row apart">
            <Person
              avatar={<Avatar kind="app" name={app.name} picture={app.iconUrl} toneOf={app.clientId} />}
              name={app.name}
              detail={words.requestedAt(momentOf(createdAt, language))}
            />
            <Chip tone="wait" icon="clock">
              {words.left(timeLeftUntil(expiresAt, language, new Date()))}
            </Chip>
          </div>
          <h2 id={id} class="doc-title">
            {title ? <FirstLine of={title} /> : title === null ? words.hidden : words.untitled}
          </h2>
          {title !== null && (
            <div class="row">
              <a
                class={isWaiting ? 'button primary' : 'button'}
                href={`${authUrl}/sign?requestId=${requestId}`}
                data-action="read-document"
                aria-label={(isWaiting ? words.readOf : words.openOf)(
                  title ? spellOut(title) : words.untitled,
                  app.name,
                )}
              >
                {isWaiting && <Icon name="signature" size="sm" />}
                {isWaiting ? words.read : words.readAgain}
              </a>
            </div>
          )}
        </div>
        <Signers document={document} of={of} />
      </div>
    </article>
  )
}

function Signers({ document, of: { signers, approvers } }: Props) {
  const words = useDocumentMessages()
  const { language } = useLocale()
  const { answers, isSigned, approvals, approvalsNeeded } = document
  const { count, needed } = progressOf(document)
  const left = approvalsNeeded - approvals
  return (
    <div class="doc-side" role="group" aria-label={words.signatures}>
      <div class="stack tight">
        <p class="strong">{words.signaturesOf(count, needed)}</p>
        <Meter count={count} needed={needed} />
        <p class="small soft">{words.whoMay(signers, approvers, approvalsNeeded)}</p>
      </div>
      <ul class="signers">
        {answers.map(({ memberId, handle, displayName, role, at }) => (
          <li key={memberId} class="signed">
            <Avatar name={displayName ?? handle ?? '?'} toneOf={handle ?? memberId} size="sm" />
            <span>
              <span class="signer-name">{displayName ?? words.former}</span>
              <small>
                {[handle === null ? '' : atHandle(handle), momentOf(at, language)].filter(Boolean).join(' · ')}
              </small>
            </span>
            <Chip tone="ok" icon="signature">
              {words.did[role]}
            </Chip>
          </li>
        ))}
        {!isSigned && <Missing label={words.open.sign} />}
        {left > 0 && <Missing label={words.open.approve} detail={words.missing(left)} />}
      </ul>
    </div>
  )
}

function Missing({ label, detail }: { label: string; detail?: string }) {
  const words = useDocumentMessages()
  return (
    <li>
      <span class="glyph sm" aria-hidden="true">
        <Icon name="clock" size="sm" />
      </span>
      <span>
        {label}
        {detail !== undefined && <small>{detail}</small>}
      </span>
      <Chip>{words.status.pending}</Chip>
    </li>
  )
}

/** A bar as long as the part of the signatures that are there. */
export function Meter({ count, needed }: { count: number; needed: number }) {
  const share = (100 * count) / needed
  return (
    <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="4" />
      <rect class={count === needed ? 'full ok' : 'full'} width={share} height="4" />
    </svg>
  )
}

import type { AccountInvitation, NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { containsAddress, isEmail } from '@countersign/protocol/formats/email'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { type Language, languages, languageTags } from '@countersign/protocol/formats/registries/languages'
import { useState } from 'preact/hooks'
import { RadioGroup, Select } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { formatNumber } from '../../../lib/text/dates.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { wordsOf } from '../acting/words-of.ts'
import { useInvitationsMessages } from './words.ts'

type Props = { onDone: (made: NewAccountInvitation) => void; onClose: () => void }

const kinds = ['link', 'mail'] as const satisfies AccountInvitation['kind'][]

/** Hours for which an invitation is valid. */
const lifetimes = ['24', '168', '720', '2160'] as const
const defaultLifetime = '168' satisfies (typeof lifetimes)[number]

type Draft = {
  kind: (typeof kinds)[number]
  email: string
  uses: string
  groups: string
  message: string
  language: Language
  hours: (typeof lifetimes)[number]
}

/** Asks for what a new invitation needs: a link to pass on, or a mail. */
export function NewInvitation({ onDone, onClose }: Props) {
  const words = useInvitationsMessages()
  const { ask } = useOperator()
  const { language } = useLocale()
  const [draft, setDraft] = useState<Draft>({
    ...{ kind: 'link', email: '', uses: '1', groups: '', message: '', language, hours: defaultLifetime },
  })
  const [isChecked, setChecked] = useState(false)
  const faults = faultsOf(draft)
  const change = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed })
  const act = {
    name: 'create-invitation',
    label: words.create[draft.kind],
    do: async () => {
      setChecked(true)
      if (faults.size > 0) return
      const made = await ask('POST /api/admin/invitations', { body: bodyOf(draft) })
      onDone(made)
      const { email, mailedAt } = made.invitation
      if (email !== null) toast((mailedAt === null ? words.mailFailed : words.mailed)(isolate(email)))
    },
  }
  return (
    <Ask title={words.add} act={act} onClose={onClose} command={commandOf(draft)}>
      <RadioGroup
        name="kind"
        legend={words.kind}
        of={kinds.map((value) => ({ value, ...words.kinds[value] }))}
        chosen={[draft.kind]}
        onChoose={(kind) => change({ kind })}
      />
      <DraftFields draft={draft} faults={isChecked ? faults : new Set()} onChange={change} />
      <Select
        name="hours"
        label={words.lifetime}
        of={lifetimes.map((value) => ({ value, label: words.lifetimes[value] }))}
        chosen={draft.hours}
        onChoose={(hours) => change({ hours })}
      />
    </Ask>
  )
}

type Fault = 'email' | 'uses' | 'message' | 'messageAddress'

type FieldsProps = { draft: Draft; faults: Set<Fault>; onChange: (changed: Partial<Draft>) => void }

function DraftFields({ draft, faults, onChange }: FieldsProps) {
  const words = useInvitationsMessages()
  const { may } = useOperator()
  return (
    <>
      {draft.kind === 'mail' ? (
        <MailFields draft={draft} faults={faults} onChange={onChange} />
      ) : (
        <Field
          name="uses"
          label={words.uses}
          hint={words.usesHint}
          value={draft.uses}
          onInput={(uses) => onChange({ uses })}
          problem={faults.has('uses') ? words.usesProblem(formatNumber(pageLimits.invitationUsesMax)) : undefined}
          keys="numeric"
        />
      )}
      {may('groups.manage') && (
        <Field
          name="groups"
          label={words.groups}
          hint={words.groupsHint}
          value={draft.groups}
          onInput={(groups) => onChange({ groups })}
          exact
          isCode
        />
      )}
      <Field
        name="message"
        label={words.message}
        hint={words.messageHint}
        value={draft.message}
        onInput={(message) => onChange({ message })}
        problem={
          faults.has('message') ? words.messageProblem : faults.has('messageAddress') ? words.messageAddress : undefined
        }
      />
    </>
  )
}

function MailFields({ draft, faults, onChange }: FieldsProps) {
  const words = useInvitationsMessages()
  return (
    <>
      <Field
        name="email"
        label={words.email}
        value={draft.email}
        onInput={(email) => onChange({ email })}
        problem={faults.has('email') ? words.emailProblem : undefined}
        keys="email"
        exact
      />
      <Select
        name="language"
        label={words.language}
        of={languageTags.map((value) => ({ value, label: languages[value].ownName }))}
        chosen={draft.language}
        onChoose={(language) => onChange({ language })}
      />
    </>
  )
}

/** Returns what the server would refuse. */
function faultsOf({ kind, email, uses, message }: Draft): Set<Fault> {
  const faults = new Set<Fault>()
  if (kind === 'mail' && !isEmail(email.trim())) faults.add('email')
  if (kind === 'link' && !(/^\d{1,4}$/.test(uses.trim()) && isUses(Number(uses)))) faults.add('uses')
  const written = message.trim()
  if (written === '') return faults
  if (!isDisplayName(written, pageLimits.invitationMessageCharactersMax)) faults.add('message')
  else if (containsAddress(written)) faults.add('messageAddress')
  return faults
}

function isUses(count: number): boolean {
  return count >= 1 && count <= pageLimits.invitationUsesMax
}

function bodyOf({ kind, email, uses, groups, message, language, hours }: Draft) {
  const keys = wordsOf(groups)
  // A minute less than the maximum, as clocks differ.
  const expiresAt = new Date(Date.now() + Number(hours) * 3_600_000 - 60_000).toISOString()
  return {
    kind,
    ...(kind === 'mail' ? { email: email.trim(), language } : { maxUses: Number(uses) }),
    ...(keys.length > 0 && { groups: keys }),
    ...(message.trim() !== '' && { message: message.trim() }),
    ...(hours !== defaultLifetime && { expiresAt }),
  }
}

function commandOf({ kind, email, uses, groups, message, language, hours }: Draft): string[] {
  return [
    ...['invitations', 'create'],
    ...(kind === 'mail' ? ['--email', email.trim() || '…', '--language', language] : []),
    ...(kind === 'link' && uses.trim() !== '1' ? ['--uses', uses.trim() || '…'] : []),
    ...wordsOf(groups).flatMap((key) => ['--group', key]),
    ...(message.trim() === '' ? [] : ['--message', message.trim()]),
    ...(hours === defaultLifetime ? [] : ['--hours', hours]),
  ]
}

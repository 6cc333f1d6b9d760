import type { App } from '@countersign/protocol/clients/apps'
import { organizationAccessLevels } from '@countersign/protocol/formats/organization-access'
import { algorithms, algorithmSupport, signatureAlgorithms } from '@countersign/protocol/formats/registries/algorithms'
import { standardScopes, type StandardScope } from '@countersign/protocol/formats/scope'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import type { DraftState } from '../../../components/form/draft.ts'
import { AppPicture } from '../../../components/pictures/AppPicture.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { TextArea } from '../../../components/display/Facts.tsx'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { useUriProblem } from '../../../components/uris/uri-problems.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { parseUrlList } from '../../../lib/urls.ts'
import { LearnMore } from '../LearnMore.tsx'
import { changeOf, draftOf, type Draft, type DraftError, type Switch, webLinks } from './app-draft.ts'
import { RedirectUris } from './RedirectUris.tsx'
import { updateApp } from './update-app.ts'
import { useMessages } from '../words.ts'

/** The signing algorithms of ID tokens. The recommended one comes first. */
const options = algorithmSupport.flatMap((support) =>
  algorithms.filter((value) => signatureAlgorithms[value].support === support).map((value) => ({ value, support })),
)

type Props = { app: App; form: DraftState<Draft, DraftError>; onChanged: (app: App) => void }

export function AppSettings({ app, form, onChanged }: Props) {
  const words = useMessages().developers
  const doing = useActions()
  const { draft, faults, saved, write, submit } = form
  const save: Action = {
    name: 'save-app',
    label: words.save,
    do: () =>
      submit(async () => {
        const body = changeOf(app, draft)
        if (Object.keys(body).length === 0) return
        const changed = await updateApp(app, body)
        onChanged(changed)
        toast(words.savedToast(changed.name))
        return draftOf(changed)
      }),
  }
  return (
    <>
      <Card>
        <AppPicture app={app} onChanged={onChanged} />
      </Card>
      <ActionForm submit={save} doing={doing}>
        <Card title={words.shownToPeople} about={words.shownToPeopleWhat}>
          <Presentation draft={draft} faults={faults} onChange={write} />
        </Card>
        <Card title={words.addresses} actions={<LearnMore guide="connect-an-app" />}>
          <Addresses app={app} draft={draft} faults={faults} onChange={write} />
        </Card>
        <Card title={words.access}>
          <RadioGroup
            name="allowedScopes"
            legend={words.scopes}
            hint={words.scopesHint}
            of={standardScopes.map((value) => ({ value, label: value, about: words.scopeGives[value] }))}
            chosen={draft.allowedScopes}
            several
            onChoose={(scope) => write({ allowedScopes: toggled(draft.allowedScopes, scope) })}
          />
          <Requirements draft={draft} onChange={write} />
        </Card>
        <Card title={words.encryption} actions={<LearnMore guide="end-to-end-encryption" />}>
          <RadioGroup
            name="supportsE2ee"
            legend={words.appKeys}
            of={[{ value: 'supportsE2ee', label: words.supportsE2ee, about: words.supportsE2eeWhat }]}
            chosen={draft.supportsE2ee ? ['supportsE2ee'] : []}
            several
            onChoose={() => write({ supportsE2ee: !draft.supportsE2ee })}
          />
          {draft.supportsE2ee && <KeyOfServer draft={draft} faults={faults} onChange={write} />}
        </Card>
        <Card title={words.tokens}>
          <IdTokens draft={draft} onChange={write} />
        </Card>
        <Card title={words.backchannelLogout} actions={<LearnMore guide="back-channel-logout" />}>
          <BackchannelLogout draft={draft} faults={faults} onChange={write} />
        </Card>
      </ActionForm>
      <div role="status">{saved && <p class="saved">{words.saved}</p>}</div>
    </>
  )
}

/** The public key of the app's server, to which app keys can be bound. */
function KeyOfServer({ draft, faults, onChange }: AddressesProps) {
  const words = useMessages().developers
  return (
    <Field
      name="appKeyRecipientJwk"
      label={words.appKeyRecipient}
      hint={words.appKeyRecipientHint}
      value={draft.appKeyRecipientJwk}
      onInput={(appKeyRecipientJwk) => onChange({ appKeyRecipientJwk })}
      problem={faults.has('appKeyRecipientJwk') ? words.appKeyRecipientInvalid : undefined}
      exact
    />
  )
}

/** What the app requires of users, and what it may see of their organizations. */
function Requirements({ draft, onChange }: Pick<AddressesProps, 'draft' | 'onChange'>) {
  const words = useMessages().developers
  return (
    <>
      <RadioGroup
        name="requiredClaims"
        legend={words.requiredClaims}
        of={[{ value: 'email', label: words.requireEmail, about: words.requireEmailWhat }]}
        chosen={draft.requiredClaims}
        several
        onChoose={(claim) => onChange({ requiredClaims: draft.requiredClaims.includes(claim) ? [] : [claim] })}
      />
      <RadioGroup
        name="organizationAccess"
        legend={words.organizationAccess}
        of={organizationAccessLevels.map((value) => ({ value, label: words.organizationAccessLevels[value] }))}
        chosen={[draft.organizationAccess]}
        onChoose={(organizationAccess) => onChange({ organizationAccess })}
      />
    </>
  )
}

/** How ID tokens are signed, and what they contain. */
function IdTokens({ draft, onChange }: Pick<AddressesProps, 'draft' | 'onChange'>) {
  const words = useMessages().developers
  return (
    <>
      <RadioGroup
        name="idTokenSignedResponseAlg"
        legend={words.algorithm}
        of={options.map(({ value, support }) => ({ value, label: value, about: words.algorithmSupport[support] }))}
        chosen={[draft.idTokenSignedResponseAlg]}
        onChoose={(idTokenSignedResponseAlg) => onChange({ idTokenSignedResponseAlg })}
      />
      <Switches legend={words.idTokens} of={['requireAuthTime', 'idTokenClaims']} draft={draft} onChange={onChange} />
    </>
  )
}

type SwitchesProps = Pick<AddressesProps, 'draft' | 'onChange'> & { legend: string; of: Switch[] }

function Switches({ legend, of, draft, onChange }: SwitchesProps) {
  const words = useMessages().developers.switches
  return (
    <RadioGroup
      name={of[0] ?? ''}
      legend={legend}
      of={of.map((value) => ({ value, ...words[value] }))}
      chosen={of.filter((each) => draft[each])}
      several
      onChoose={(chosen) => onChange({ [chosen]: !draft[chosen] })}
    />
  )
}

/** The URL that receives logout tokens (OpenID Connect Back-Channel Logout §2.2). */
function BackchannelLogout({ draft, faults, onChange }: AddressesProps) {
  const words = useMessages().developers
  return (
    <>
      <Field
        name="backchannelLogoutUri"
        label={words.backchannelLogoutUri}
        hint={words.backchannelLogoutUriHint}
        value={draft.backchannelLogoutUri}
        onInput={(backchannelLogoutUri) => onChange({ backchannelLogoutUri })}
        problem={faults.has('backchannelLogoutUri') ? words.endpointInvalid : undefined}
      />
      {draft.backchannelLogoutUri !== '' && (
        <Switches
          legend={words.backchannelLogout}
          of={['backchannelLogoutSessionRequired']}
          draft={draft}
          onChange={onChange}
        />
      )}
    </>
  )
}

type AddressesProps = { draft: Draft; faults: Set<DraftError>; onChange: (change: Partial<Draft>) => void }

/** The name of the app and what else its users see. */
function Presentation({ draft, faults, onChange }: AddressesProps) {
  const words = useMessages()
  return (
    <>
      <Field
        name="name"
        label={words.developers.name}
        value={draft.name}
        onInput={(name) => onChange({ name })}
        problem={faults.has('name') ? words.register.displayNameInvalid : undefined}
      />
      <Field
        name="description"
        label={words.developers.description}
        hint={words.developers.descriptionHint}
        value={draft.description}
        onInput={(description) => onChange({ description })}
        problem={faults.has('description') ? words.developers.descriptionInvalid : undefined}
      />
      {webLinks.map((link) => (
        <Field
          key={link}
          name={link}
          label={words.developers.webLinks[link]}
          value={draft[link]}
          onInput={(url) => onChange({ [link]: url })}
          problem={faults.has(link) ? words.developers.webUrlInvalid : undefined}
          keys="url"
          exact
        />
      ))}
    </>
  )
}

function Addresses({ app, draft, faults, onChange }: AddressesProps & Pick<Props, 'app'>) {
  const messages = useMessages()
  const words = messages.developers
  const { postLogoutRedirectUris } = draft
  const hasFault = faults.has('postLogoutRedirectUris')
  const problem = useUriProblem(hasFault ? parseUrlList(postLogoutRedirectUris) : [], app.public, messages.redirects)
  return (
    <>
      <RedirectUris
        value={draft.redirectUris}
        isPublic={app.public}
        hasFault={faults.has('redirectUris')}
        onInput={(redirectUris) => onChange({ redirectUris })}
      />
      {app.public && (
        <Switches legend={words.loopback} of={['allowAnyLoopbackPort']} draft={draft} onChange={onChange} />
      )}
      <TextArea
        name="postLogoutRedirectUris"
        label={words.postLogoutRedirectUris}
        hint={words.postLogoutRedirectUrisHint}
        value={postLogoutRedirectUris}
        onInput={(text) => onChange({ postLogoutRedirectUris: text })}
        problem={problem}
      />
    </>
  )
}

/** Keeps the order of the list, so that switching a scope off and on again is not a change. */
function toggled(scopes: StandardScope[], scope: StandardScope): StandardScope[] {
  return standardScopes.filter((each) => scopes.includes(each) !== (each === scope))
}

import type { App } from '@countersign/protocol/clients/apps'
import type { AppUsage } from '@countersign/protocol/clients/usage'
import { useState } from 'preact/hooks'
import { keepFocus } from '../../../lib/focus.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { readLocal, writeLocal } from '../../../lib/remembered.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { CodeBlock, Copyable } from '../../../components/ui/Code.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Segmented } from '../../../components/ui/Tabs.tsx'
import { updateApp } from '../settings/update-app.ts'
import { useMessages } from '../words.ts'
import { FirstSignIn } from './FirstSignIn.tsx'
import guideCode from './guide-code.json' with { type: 'json' }
import { firstRecipeFor, type Recipe, recipe, recipesFor, type RecipeName, type RecipeStep } from './recipes.ts'

type Props = {
  app: App
  /** Undefined if it is no longer known. */
  clientSecret: string | undefined
  usage: AppUsage | undefined
  onChanged: (app: App) => void
}

const storageKey = 'quickstart'

/** The values that a library needs, code that uses them, and whether it worked. */
export function Quickstart({ app, clientSecret, usage, onChanged }: Props) {
  const names = recipesFor(app)
  const [name, setName] = useState<RecipeName>(
    () => names.find((each) => each === readLocal(storageKey)) ?? firstRecipeFor(app),
  )
  const choose = (chosen: RecipeName) => {
    writeLocal(storageKey, chosen)
    setName(chosen)
  }
  const { baseUrl, authUrl: issuer } = readSiteSettings()
  const shown = recipe(name, { app, clientSecret, baseUrl, issuer, guideCode })
  return (
    <>
      <Credentials app={app} />
      <Code app={app} names={names} name={name} onChoose={choose} recipe={shown} usage={usage} onChanged={onChanged} />
    </>
  )
}

/** The values that every OpenID Connect library needs. */
function Credentials({ app }: { app: App }) {
  const words = useMessages().developers
  const values = [
    { label: words.clientId, value: app.clientId, action: 'copy-client-id' },
    { label: words.issuer, value: readSiteSettings().authUrl, action: 'copy-issuer' },
    ...app.redirectUris.slice(0, 1).map((value) => ({ label: words.redirectUri, value, action: 'copy-redirect-uri' })),
  ]
  return (
    <Card title={words.credentials}>
      <div class="pairs credentials">
        {values.map(({ label, value, action }) => (
          <>
            <span>{label}</span>
            <Copyable value={value} label={label} action={action} />
          </>
        ))}
        <span>{words.secret}</span>
        <p class="soft small">{app.public ? words.noSecret : words.secretKept}</p>
      </div>
    </Card>
  )
}

type CodeProps = {
  app: App
  names: RecipeName[]
  name: RecipeName
  onChoose: (name: RecipeName) => void
  recipe: Recipe
  usage: AppUsage | undefined
  onChanged: (app: App) => void
}

function Code({ app, names, name, onChoose, recipe: shown, usage, onChanged }: CodeProps) {
  const words = useMessages().quickstart
  const isSignedInBefore = shown.steps.some(({ kind }) => kind === 'browser')
  const inTerminal = isSignedInBefore ? undefined : words.followTerminal
  const hint = shown.startUrl === undefined ? inTerminal : words.open
  return (
    <Card
      title={words.title}
      actions={
        <Segmented
          label={words.choice}
          of={names.map((value) => ({ value, label: words.names[value] }))}
          chosen={name}
          onChoose={onChoose}
        />
      }
    >
      <MissingUris app={app} recipe={shown} onChanged={onChanged} />
      <ol class="recipe">
        {shown.steps.map((step, index) => (
          <li key={index}>
            <Step step={step} index={index} />
          </li>
        ))}
        <li>
          <div class="stack">
            <h3>{isSignedInBefore ? words.checkSignIn : words.trySignIn}</h3>
            <FirstSignIn usage={usage} startUrl={shown.startUrl} hint={hint} />
          </div>
        </li>
      </ol>
      <p class="small">
        <a class="with-icon" href={`/help/guides/${shown.guide}`}>
          <Icon name="book-open" size="sm" />
          {words.guide}
        </a>
      </p>
    </Card>
  )
}

function Step({ step, index }: { step: RecipeStep; index: number }) {
  const words = useMessages().quickstart
  if (step.kind === 'browser')
    return (
      <div class="stack">
        <h3>{words.trySignIn}</h3>
        <p>{words.followCurl}</p>
      </div>
    )
  const { kind, label, code } = step
  return (
    <div class="stack">
      <h3>{words.steps[kind](label)}</h3>
      <CodeBlock code={code} label={label} action={`copy-step-${index}`} />
    </div>
  )
}

type MissingProps = Pick<CodeProps, 'app' | 'recipe' | 'onChanged'>

/** Says that the code returns to URIs that the app has not registered, and registers them. */
function MissingUris({ app, recipe: { redirectUri, postLogoutRedirectUri = '' }, onChanged }: MissingProps) {
  const words = useMessages().quickstart
  const doing = useActions()
  const change = {
    ...(!app.redirectUris.includes(redirectUri) && { redirectUris: [...app.redirectUris, redirectUri] }),
    ...(postLogoutRedirectUri !== '' &&
      !app.postLogoutRedirectUris.includes(postLogoutRedirectUri) && {
        postLogoutRedirectUris: [...app.postLogoutRedirectUris, postLogoutRedirectUri],
      }),
  }
  if (Object.keys(change).length === 0) return null
  const add: Action = {
    name: 'add-redirect-uri',
    label: words.addMissingUris,
    look: 'secondary',
    icon: 'plus',
    do: () => keepFocus(async () => onChanged(await updateApp(app, change))),
  }
  return (
    <Note tone="wait">
      {change.redirectUris && (
        <p>
          {words.missingRedirectUri} <code>{redirectUri}</code>
        </p>
      )}
      {change.postLogoutRedirectUris && (
        <p>
          {words.missingPostLogoutRedirectUri} <code>{postLogoutRedirectUri}</code>
        </p>
      )}
      <Actions of={[add]} doing={doing} />
    </Note>
  )
}

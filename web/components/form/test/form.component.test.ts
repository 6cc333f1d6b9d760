import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { useState } from 'preact/hooks'
import { event, renderInPage, type } from '../../../testing/render.ts'

const { ApiError } = await import('../../../lib/api/call.ts')
const { ActionForm, Actions } = await import('../Actions.tsx')
const { RadioGroup, Select } = await import('../Choice.tsx')
const { Field } = await import('../Field.tsx')
const { useActions } = await import('../use-actions.ts')
const { useLatestRead } = await import('../use-latest-read.ts')

test('a field names its input, and its problem is announced and described in place of the hint', async () => {
  let written = ''
  const { find, after } = await renderInPage(() => {
    const [value, setValue] = useState('')
    written = value
    return h(Field, {
      name: 'handle',
      label: 'Username',
      value,
      onInput: setValue,
      hint: 'Letters',
      problem: 'Too short',
    })
  })
  const input = find('input[name="handle"]')
  assert.equal(find(`label[for="${input.id}"]`).textContent, 'Username')
  assert.equal(input.getAttribute('aria-invalid'), 'true')
  const described = input.getAttribute('aria-describedby')?.split(' ') ?? []
  assert.deepEqual(
    described.map((id) => find(`[id="${id}"]`).textContent),
    ['Too short'],
  )
  assert.equal(find('[role="alert"]').textContent, 'Too short')
  await after(() => type(input, 'ada'))
  assert.equal(written, 'ada')
})

test('the region that says that a value is good is there before it is, and says it once', async () => {
  const { find, after } = await renderInPage(() => {
    const [value, setValue] = useState('')
    const confirmed = value === 'ada' ? 'Username is available.' : undefined
    return h(Field, { name: 'handle', label: 'Username', value, onInput: setValue, confirmed })
  })
  const region = find('.field [role="status"]')
  region.setAttribute('data-seen', '')
  assert.equal(region.textContent, '')
  await after(() => type(find('input[name="handle"]'), 'ada'))
  assert.equal(find('.field [role="status"][data-seen]').textContent, 'Username is available.')
  assert.equal(document.querySelectorAll('.field [role="status"]').length, 1)
})

test('an action runs once at a time, and its error is shown in words', async () => {
  let runs = 0
  const started = Promise.withResolvers<undefined>()
  const { find, after, text } = await renderInPage(() => {
    const doing = useActions()
    const save = {
      name: 'save',
      label: 'Save',
      do: async () => {
        runs += 1
        await started.promise
        throw new TypeError('broken')
      },
    }
    return h(Actions, { of: [save], doing })
  })
  const button = find('[data-action="save"]')
  await after(() => button.click())
  assert.equal(button.getAttribute('aria-busy'), 'true')
  await after(() => button.click())
  assert.equal(runs, 1)
  await after(() => started.resolve(undefined))
  assert.equal(button.getAttribute('aria-busy'), 'false')
  assert.notEqual(find('[role="alert"]').textContent, '')
  assert.doesNotMatch(text(), /broken/, 'the message of a fault is not for users')
})

test('who is signed out when they save can sign in beside the page, which keeps what they typed', async () => {
  const refusals = [new ApiError(401, 'unauthorized', ''), new ApiError(404, 'app_not_found', '')]
  const { find, after } = await renderInPage(() => {
    const [draft, write] = useState('')
    const doing = useActions()
    const save = { name: 'save', label: 'Save', do: () => Promise.reject(refusals.shift()) }
    const name = h(Field, { name: 'name', label: 'Name', value: draft, onInput: write })
    return h(ActionForm, { submit: save, doing, children: name })
  })
  await after(() => type(find('input'), 'Ada'))
  await after(() => find('form').dispatchEvent(event('submit')))
  const link = find('.actions [role="alert"] a')
  assert.equal(link.textContent, 'Sign in')
  // The page without a session leads to the sign-in page, and that returns to it.
  assert.deepEqual([link.getAttribute('href'), link.getAttribute('target')], [location.href, '_blank'])
  assert.equal(Reflect.get(find('input'), 'value'), 'Ada')
  await after(() => find('form').dispatchEvent(event('submit')))
  assert.notEqual(find('.actions [role="alert"]').textContent, '')
  assert.equal(document.querySelector('.actions a'), null, 'another error says nothing of signing in')
})

test('a list shows what was chosen last, whichever answer comes first, and reads again after an error', async () => {
  const answers = new Map<string, ReturnType<typeof Promise.withResolvers<string>>>()
  const { find, after } = await renderInPage(() => {
    const [filter, setFilter] = useState('waiting')
    const [shown, setShown] = useState('')
    const read = () => {
      const answer = Promise.withResolvers<string>()
      answers.set(filter, answer)
      return answer.promise
    }
    const { doing, readAgain } = useLatestRead({ read, onRead: setShown }, [filter])
    const signed = { name: 'signed', label: 'Signed', do: () => setFilter('signed') }
    const retry = { name: 'retry', label: 'Try again', do: readAgain }
    return [h(Actions, { of: [signed, retry], doing }), h('output', {}, shown)]
  })
  const text = () => find('output').textContent
  const [first] = answers.values()
  await after(() => find('[data-action="signed"]').click())
  assert.deepEqual([...answers.keys()], ['waiting', 'signed'], 'the second read does not wait for the first')
  await after(() => answers.get('signed')?.reject(new TypeError('broken')))
  assert.notEqual(find('[role="alert"]').textContent, '')
  await after(() => find('[data-action="retry"]').click())
  assert.equal(find('[role="alert"]').textContent, '')
  await after(() => answers.get('signed')?.resolve('signed documents'))
  await after(() => first?.resolve('waiting documents'))
  assert.equal(text(), 'signed documents')
})

test('a form runs its first action when it is submitted', async () => {
  const done: string[] = []
  const { find, after } = await renderInPage(() => {
    const doing = useActions()
    const submit = { name: 'create', label: 'Create', do: () => done.push('create') }
    const others = [{ name: 'cancel', label: 'Cancel', do: () => done.push('cancel') }]
    return h(ActionForm, { submit, others, doing, children: null })
  })
  await after(() => find('form').dispatchEvent(event('submit')))
  await after(() => find('[data-action="cancel"]').click())
  assert.deepEqual(done, ['create', 'cancel'])
})

test('a choice reports the value that was chosen', async () => {
  const chosen: string[] = []
  const of = [
    { value: 'oidc', label: 'OpenID Connect' },
    { value: 'saml', label: 'SAML', about: 'For older providers' },
  ]
  const { find, after } = await renderInPage(() => {
    const onChoose = (value: string) => void chosen.push(value)
    const common = { of, onChoose }
    return [
      h(Select<string>, { name: 'kind', label: 'Kind', chosen: 'oidc', ...common }),
      h(RadioGroup<string>, { name: 'way', legend: 'Way', chosen: ['oidc'], ...common }),
    ]
  })
  await after(() => {
    Reflect.set(find('select'), 'value', 'saml')
    find('select').dispatchEvent(event('change'))
  })
  await after(() => find('input[type="radio"][value="saml"]').dispatchEvent(event('change')))
  assert.deepEqual(chosen, ['saml', 'saml'])
  assert.ok(Reflect.get(find('input[value="oidc"]'), 'checked'))
  assert.equal(find('legend').textContent, 'Way')
})

import { setTimeout as pass } from 'node:timers/promises'
import { readEventStream } from '@countersign/protocol/formats/files/event-stream'
import type { Command } from 'commander'
import { ApiError, openStream } from '../call.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { CliError, fieldsOf, stripControlCharacters, textOf } from '../terminal.ts'
import { addFilters, filterOf, type FilterOptions } from './audit.ts'
import { parsePlaceBefore } from '../options/values.ts'

/** The service sends something every 15 seconds. A connection that is silent for longer is dead. */
const silentSecondsMax = 45
const pauseSecondsMin = 1
const pauseSecondsMax = 30

type Options = FilterOptions & { after?: number }

/** `countersign audit follow`: prints events as they are recorded, until it is interrupted. */
export function addFollow(audit: Command): void {
  addFilters(audit.command('follow'))
    .description('print the events of the audit log as they are recorded, until Ctrl-C')
    .option('--after <place>', 'begin after this event, by its number; 0 begins with the first', parsePlaceBefore)
    .action(async ({ after, ...options }: Options, command: Command) => {
      const settings = settingsOf(command)
      const querystring = await filterOf(settings, options)
      const stopped = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort())
      await follow(settings, { querystring, place: after?.toString() }, stopped.signal)
    })
}

type Followed = { querystring: Record<string, string>; place: string | undefined }

type State = { place: string | undefined; hasBegun: boolean; pauseSeconds: number }

/** Prints events until it is stopped. Throws if the first connection fails, or the service refuses a later one. */
async function follow(settings: Settings, { querystring, place }: Followed, stopped: AbortSignal): Promise<void> {
  const state = { place, hasBegun: false, pauseSeconds: pauseSecondsMin }
  while (!stopped.aborted) {
    try {
      await printStream(settings, querystring, state, stopped)
    } catch (error) {
      if (stopped.aborted) return
      if (!state.hasBegun || isFinal(error)) throw error
      if (!settings.json) console.error(`connection lost (${messageOf(error)}); trying again`)
    }
    await pass(state.pauseSeconds * 1000, undefined, { signal: stopped }).catch(() => undefined)
    state.pauseSeconds = Math.min(2 * state.pauseSeconds, pauseSecondsMax)
  }
}

/** Prints the events of one connection. Changes the state, so that the next one continues there. */
async function printStream(
  settings: Settings,
  querystring: Followed['querystring'],
  state: State,
  stopped: AbortSignal,
): Promise<void> {
  for await (const { id, data } of readStream(settings, { querystring, place: state.place }, stopped)) {
    if (data !== undefined) print(settings, data)
    Object.assign(state, { place: id ?? state.place, hasBegun: true, pauseSeconds: pauseSecondsMin })
  }
}

async function* readStream(settings: Settings, { querystring, place }: Followed, stopped: AbortSignal) {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(new CliError('the service is silent')), silentSecondsMax * 1000)
  try {
    const signal = AbortSignal.any([stopped, silent.signal])
    const headers = place === undefined ? {} : { 'last-event-id': place }
    const { body } = await openStream(settings, 'GET /api/admin/audit/stream', { querystring, headers }, signal)
    if (!body) throw new CliError('the service sent no stream')
    for await (const event of readEventStream(body.pipeThrough(new TextDecoderStream()))) {
      timer.refresh()
      yield event
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Tells whether a later attempt would fail in the same way: the service refused this request, or this operator. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 429
}

function messageOf(error: unknown): string {
  return stripControlCharacters(error instanceof Error ? error.message : String(error))
}

function withSingleSpaces(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function print({ json }: Settings, data: string): void {
  if (json) return console.log(data)
  const { at, action, result, actor, object, address, identityId, clientId } = fieldsOf(JSON.parse(data))
  const [by, of] = [fieldsOf(actor), fieldsOf(object)]
  const actorName = by['kind'] === 'break_glass' ? 'ADMIN_TOKEN' : `${textOf(by['kind'])} ${textOf(by['name'])}`
  const objectName = `${textOf(of['kind'])} ${textOf(of['name']) || textOf(of['id'])}`
  const about = [textOf(identityId), textOf(clientId), textOf(result), textOf(address)]
  // A name with two spaces would look like two columns.
  const cells = [textOf(at), textOf(action), actorName, objectName, ...about].map(withSingleSpaces)
  console.log(cells.flatMap((cell) => stripControlCharacters(cell) || []).join('  '))
}

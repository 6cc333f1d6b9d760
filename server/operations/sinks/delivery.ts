import type { AuditEvent } from '@countersign/protocol/operations/audit'
import type { SinkFault } from '@countersign/protocol/operations/sinks'
import { listEventsAfter } from '#platform/audit/event-list.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { OutboundError } from '#platform/outbound/fetch.ts'
import { type Batch, writeHttpBatch, writeSyslogBatch } from './message.ts'
import { openHeaders, openSecrets } from './secrets.ts'
import type { SinkRow } from './store.ts'

const eventsMax = 500
const bytesMax = 1024 * 1024

/** Reads the next events for a sink, and the place up to which it then has all. */
export async function readBatch(
  kernel: Pick<ServerContext, 'db' | 'keyring'>,
  { sinkId, actions }: Pick<SinkRow, 'sinkId' | 'actions'>,
  range: { after: number; to: number },
): Promise<{ events: AuditEvent[]; upTo: number }> {
  const { entries, upTo } = await listEventsAfter({ ...kernel, readerKey: sinkId }, {}, { ...range, count: eventsMax })
  const events: AuditEvent[] = []
  let [bytes, place] = [0, range.after]
  for (const event of entries) {
    if (isSelected(event, actions)) {
      bytes += Buffer.byteLength(JSON.stringify(event))
      if (bytes > bytesMax && events.length > 0) return { events, upTo: place }
      events.push(event)
    }
    place = event.sequence
  }
  return { events, upTo }
}

function isSelected({ action }: AuditEvent, actions: readonly string[]): boolean {
  return actions.length === 0 || actions.some((each) => action === each || action.startsWith(`${each}.`))
}

type DeliveryDeps = Pick<ServerContext, 'clock' | 'config' | 'keyring' | 'log' | 'outbound'>
type Limits = { withinMilliseconds: number; signal: AbortSignal }

/** Sends events to a sink. Returns why it did not, or undefined. An interrupted attempt may have arrived. */
export async function deliver(
  kernel: DeliveryDeps,
  sink: SinkRow,
  events: Batch,
  limits: Limits,
): Promise<SinkFault | 'interrupted' | undefined> {
  const { log } = kernel
  try {
    if (sink.kind === 'syslog') await writeSyslog(kernel, sink, events, limits)
    else return await postBatch(kernel, sink, events, limits)
    return undefined
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    if (error.reason === 'cut_off') return 'interrupted'
    log.info({ sink: sink.key, reason: error.reason }, 'audit events not delivered')
    return faultOf(error.reason)
  }
}

async function writeSyslog(
  { config, outbound }: DeliveryDeps,
  sink: SinkRow,
  events: Batch,
  limits: Limits,
): Promise<void> {
  const bytes = writeSyslogBatch(events, config.baseUrl.hostname)
  await outbound.sinks.write(sink, { ...limits, bytes })
}

async function postBatch(
  kernel: DeliveryDeps,
  sink: SinkRow,
  events: Batch,
  limits: Limits,
): Promise<SinkFault | undefined> {
  const now = kernel.clock()
  const opened = await openAll(kernel, sink, now)
  if (!opened) return 'not_signed'
  const { body, headers } = writeHttpBatch(events, { sinkId: sink.sinkId, secrets: opened.secrets, now })
  const sent = { ...limits, body, headers: { ...opened.headers, ...headers } }
  const status = await kernel.outbound.sinks.post(sink, sent)
  if (status >= 200 && status < 300) return undefined
  kernel.log.info({ sink: sink.key, status }, 'audit events not delivered')
  return 'rejected'
}

/** Opens the secrets of a sink. Returns undefined if the root key was lost, which is logged. */
async function openAll(kernel: DeliveryDeps, sink: SinkRow, now: Date) {
  const { sinkId, key, sealedHeaders } = sink
  try {
    const secrets = await openSecrets(kernel, sink, now)
    return { secrets, headers: await openHeaders(kernel, sinkId, sealedHeaders) }
  } catch (error) {
    kernel.log.error({ error, sink: key }, 'secrets of a sink not opened')
    return undefined
  }
}

/** Returns the word for a reason. Details are in the log alone: they would show what the network of the service has. */
function faultOf(reason: string): SinkFault {
  if (reason === 'address_not_allowed' || reason === 'timed_out') return reason
  return /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(reason) ? 'certificate_invalid' : 'unreachable'
}

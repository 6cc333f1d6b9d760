import { Type, type Static } from 'typebox'
import { endpoint, NoContent, optionalBody } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { nullable, Timestamp, Uuid } from '../values.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'sinks.manage' } as const
const managing = { ...reading, recentAuthentication: true } as const

const SinkKey = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,39}$' })
const SinkUrl = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'https://… for http, tls://host:port for syslog',
})
const Actions = Type.Array(Type.String({ pattern: '^[a-z_.]{1,64}$' }), {
  maxItems: limits.sinkActionsMax,
  uniqueItems: true,
  description: 'Actions, or prefixes of them such as `group.member`. None for all',
})
const headersDescription = '`Authorization`, and those that begin with `X-`'
const Headers = Type.Record(Type.String(), Type.String({ maxLength: limits.sinkHeaderCharactersMax }), {
  maxProperties: limits.sinkHeadersMax,
  writeOnly: true,
  description: headersDescription,
})
const CaPem = Type.String({
  maxLength: limits.sinkCaCharactersMax,
  description: 'The authorities that may sign the certificate of the receiver, instead of the public ones',
})

/** Why events could not be delivered. */
export const SinkFault = Type.Enum(
  ['address_not_allowed', 'unreachable', 'certificate_invalid', 'timed_out', 'rejected', 'not_signed'],
  { type: 'string' },
)
export type SinkFault = Static<typeof SinkFault>

const SinkStatus = Type.Enum(['enabled', 'paused'], { type: 'string' })

/** Receiver to which the audit log is sent. */
export const Sink = Type.Object({
  sinkId: Uuid,
  key: Type.String(),
  kind: Type.Enum(['http', 'syslog'], { type: 'string' }),
  url: Type.String(),
  headerNames: Type.Array(Type.String(), { description: 'Names of the headers that requests have' }),
  caPem: nullable(Type.String()),
  actions: Type.Array(Type.String()),
  status: SinkStatus,
  cursor: Type.Integer({ minimum: 0, description: 'Place up to which the receiver has all events' }),
  lag: Type.Integer({ minimum: 0, description: 'Number of places after it' }),
  lastError: nullable(SinkFault),
  lastDeliveredAt: nullable(Timestamp),
  createdAt: Timestamp,
})
export type Sink = Static<typeof Sink>

/** Sink as a document declares it. */
export const DeclaredSink = Type.Object(
  {
    key: SinkKey,
    kind: Type.Optional(Sink.properties.kind),
    url: Type.Optional(SinkUrl),
    headers: Type.Optional(
      nullable(
        Type.Record(Type.String(), Type.String({ maxLength: limits.sinkHeaderCharactersMax, writeOnly: true }), {
          maxProperties: limits.sinkHeadersMax,
          description: headersDescription,
        }),
      ),
    ),
    caPem: Type.Optional(nullable(CaPem)),
    actions: Type.Optional(nullable(Actions)),
    status: Type.Optional(SinkStatus),
  },
  {
    additionalProperties: false,
    description: 'A receiver of the audit log. Without headers, another host removes them',
  },
)
export type DeclaredSink = Static<typeof DeclaredSink>

const BySink = Type.Object({ sinkId: Uuid })

export const listSinks = endpoint(
  'GET /api/admin/sinks',
  { ...reading, summary: 'List the sinks of the audit log' },
  {},
  { 200: Type.Object({ sinks: Type.Array(Sink) }) },
)

export const createSink = endpoint(
  'POST /api/admin/sinks',
  { ...managing, summary: 'Add a sink, which gets the events from now on' },
  {
    body: Type.Object({
      key: SinkKey,
      kind: Type.Enum(['http', 'syslog'], { type: 'string' }),
      url: SinkUrl,
      headers: Type.Optional(Headers),
      caPem: Type.Optional(CaPem),
      actions: Type.Optional(Actions),
    }),
  },
  {
    201: Type.Object({
      sink: Sink,
      secret: nullable(Type.String({ description: 'Signs requests of kind http. No later answer contains it' })),
    }),
  },
)

export const getSink = endpoint(
  'GET /api/admin/sinks/:sinkId',
  { ...reading, summary: 'Read a sink' },
  { params: BySink },
  { 200: Sink },
)

export const updateSink = endpoint(
  'PATCH /api/admin/sinks/:sinkId',
  { ...managing, summary: 'Change, pause or resume a sink. Without headers, another address removes them' },
  {
    params: BySink,
    body: Type.Object({
      url: Type.Optional(SinkUrl),
      headers: Type.Optional(Headers),
      caPem: Type.Optional(nullable(CaPem)),
      actions: Type.Optional(Actions),
      status: Type.Optional(SinkStatus),
    }),
  },
  { 200: Sink },
)

export const deleteSink = endpoint(
  'DELETE /api/admin/sinks/:sinkId',
  { ...managing, summary: 'Remove a sink' },
  { params: BySink },
  { 204: NoContent },
)

export const replaySink = endpoint(
  'PUT /api/admin/sinks/:sinkId/cursor',
  { ...managing, summary: 'Send the events after a place again' },
  {
    params: BySink,
    body: Type.Object({ cursor: Type.Integer({ minimum: 0, description: 'Not above the present one' }) }),
  },
  { 200: Sink },
)

export const rotateSinkSecret = endpoint(
  'POST /api/admin/sinks/:sinkId/secret',
  {
    ...managing,
    summary: 'Create a new secret of a sink, returned only once; the old one also signs for graceSeconds',
  },
  {
    params: BySink,
    body: optionalBody(
      Type.Object(
        { graceSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.clientSecretGraceSecondsMax })) },
        { additionalProperties: false },
      ),
    ),
  },
  {
    201: Type.Object({
      secret: Type.String({ description: 'Signs requests. No later answer contains it' }),
      previousUntil: Timestamp,
    }),
  },
)

export const testSink = endpoint(
  'POST /api/admin/sinks/:sinkId/test',
  { ...managing, summary: 'Send one event to a sink at once: that it was tested' },
  { params: BySink },
  { 200: Type.Object({ error: nullable(SinkFault) }) },
)

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeTables } from '../tables.ts'

test('each column has the type that the driver returns, with its nulls, defaults and literals', async () => {
  const first = `
    create table parcel (
      parcel_id uuid primary key,
      label text not null,
      note text,
      weight bigint not null,
      pieces integer not null default 1,
      fragile boolean not null,
      seal bytea not null check (octet_length(seal) = 32),
      seals bytea[] not null default '{}',
      tags text[] not null,
      size text not null check (size in ('small', 'large')),
      route text check (route in ('air')),
      anything text check (anything is null or anything in ('x')),
      contents jsonb not null,
      extras jsonb default '{}',
      sent_at timestamptz
    );`
  const second = `
    create table journey (journey_id uuid, day timestamptz not null) partition by range (day);
    create table journey_2030 partition of journey for values from ('2030-01-01') to ('2031-01-01');
    alter table parcel add column state text not null default 'new' check (state in ('new', 'sent'));`

  assert.equal(
    await describeTables([first, second]),
    `// Written by \`node tools/tables.ts\` from server/migrations. Do not edit.
import type { ColumnType, Generated } from 'kysely'

/** Read as a value, written as its text. */
type Json = ColumnType<unknown, string, string>

export interface Tables {
  journey: {
    journey_id: string | null
    day: Date
  }
  parcel: {
    parcel_id: string
    label: string
    note: string | null
    weight: string
    pieces: Generated<number>
    fragile: boolean
    seal: Uint8Array
    seals: Generated<Uint8Array[]>
    tags: string[]
    size: 'small' | 'large'
    route: 'air' | null
    anything: string | null
    contents: Json
    extras: ColumnType<unknown, string | null | undefined, string | null>
    sent_at: Date | null
    state: Generated<'new' | 'sent'>
  }
}
`,
  )
})

test('only the types that occur are imported', async () => {
  assert.match(await describeTables(['create table parcel (id uuid)']), /edit\.\n\nexport/)
  const withDefault = await describeTables([`create table parcel (extras jsonb not null default '{}')`])
  assert.match(withDefault, /edit\.\nimport type \{ ColumnType \} from 'kysely'\n\nexport/)
})

test('a column that holds an ID has the type of that ID, by its name', async () => {
  const described = await describeTables([
    'create table parcel (client_id text not null, owner_user_id uuid, scim_user_id uuid not null)',
  ])
  assert.match(described, /^import type \{ ClientId, UserId \} from '@countersign\/protocol\/ids'$/m)
  assert.match(described, /client_id: ClientId\n {4}owner_user_id: UserId \| null\n {4}scim_user_id: string\n/)
})

test('an unknown type is rejected with the name of its column', async () => {
  await assert.rejects(describeTables(['create table parcel (cost money)']), /parcel\.cost has the type money/)
})

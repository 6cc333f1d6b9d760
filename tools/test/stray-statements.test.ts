import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Schema } from '../sharding/scope.ts'
import { findStrays } from '../sharding/statement.ts'

const schema: Schema = new Map([
  ['person', { columns: ['person_id', 'name', 'team_id', 'seen_at'], placement: { by: 'person_id' } }],
  ['badge', { columns: ['person_id', 'badge_id', 'scope'], placement: { by: 'person_id' } }],
  ['place', { columns: ['name', 'person_id'], placement: { by: 'name' } }],
  ['team', { columns: ['team_id', 'title'], placement: 'every node' }],
  ['queue', { columns: ['entry_id', 'person_id'], placement: 'coordinator' }],
])
const problems = (text: string) => findStrays(text, schema).map(({ table, problem }) => `${table} ${problem}`)

const accepted = {
  'a key that is a parameter': 'select * from person where person_id = $1 and name = $2',
  'a key with a cast, on the other side': 'delete from person where $1::uuid = person.person_id',
  'a list of keys': 'update person set name = $2 where person_id = any($1::uuid[])',
  'keys that are listed': 'select name from person where person_id in ($1, $2)',
  'keys in rows': 'delete from badge where (person_id, badge_id) in (($1, $2), ($3, $4))',
  'a table joined on the key':
    'select 1 from person p join badge b on b.person_id = p.person_id where p.person_id = $1',
  'a table joined on the key, by its name':
    'select 1 from badge join person using (person_id) where badge.person_id = $1',
  'a list of keys for each table that is joined on the key': `
    select 1 from person join badge using (person_id)
    where person.person_id = any($1) and badge.person_id = any($1)`,
  'the same in a subquery':
    'select 1 from person p where person_id = $1 and not exists (select from badge b where b.person_id = p.person_id)',
  'a table that every node has': 'select 1 from person join team using (team_id) where person_id = $1',
  'tables of the coordinator': 'select 1 from queue join team on true where entry_id = $1',
  'a batch with its keys': `
    with batch as (select * from unnest($1::uuid[], $2::text[]) as batch (person_id, name))
    update person set name = batch.name from batch
    where person.person_id = any($1) and person.person_id = batch.person_id returning person.name`,
  'a part of a statement that is read by its key':
    'with found as (select * from person) select name from found where person_id = $1',
  'rows with their keys': 'insert into badge (badge_id, person_id) values ($1, $2), ($3, $4)',
  'rows of a list': 'insert into badge (person_id, badge_id) select * from unnest($1::uuid[], $2::uuid[])',
  'rows that have the key of those that were read': `
    with gone as (delete from person where person_id = $1 returning person_id)
    insert into badge (person_id, badge_id) select person_id, $2 from gone`,
  'keys that another statement finds first': `
    select 1 from person where person_id = any(array(
      select * from (select person_id from place where name = $1) as found_first
    ))`,
  'the key in each alternative': 'select 1 from person where (person_id = $1 and name = $2) or person_id = $3',
  'a time that is the same in every time zone': `
    update person set seen_at = (seen_at at time zone 'UTC' + interval '1 day') at time zone 'UTC'
    where person_id = $1`,
}

for (const [what, text] of Object.entries(accepted))
  test(`a statement stays with its shards by ${what}`, () => {
    assert.deepEqual(problems(text), [])
  })

const refused: Record<string, [text: string, ...problems: string[]]> = {
  'another column': ['select * from person where name = $1', 'person is not filtered by person_id'],
  'no condition': ['update person set name = $1', 'person is not filtered by person_id'],
  'a key that only some rows have': [
    'select 1 from person where person_id = $1 or name = $2',
    'person is not filtered by person_id',
  ],
  'a key that the rows do not have': [
    'select 1 from person where not (person_id = $1)',
    'person is not filtered by person_id',
  ],
  'a place that names the key': [
    'select 1 from place join person on person.person_id = place.person_id where place.name = $1',
    'person is not filtered by person_id',
  ],
  'keys that another statement finds first, in all shards': [
    `select 1 from person where person_id = any(array(
       select * from (select person_id from place where person_id > $1) as found_first
     ))`,
    'place is not filtered by name',
  ],
  'a subquery of another key': [
    'select 1 from place where name = $1 and exists (select from person where person.name = place.name)',
    'person is not filtered by person_id',
  ],
  'a key that only a subquery is given': [
    `select 1 from person where not exists (
       select from badge where badge.person_id = person.person_id and badge.person_id = $1
     )`,
    'person is not filtered by person_id',
  ],
  'an array that is searched for the key': [
    'select 1 from person where $1 = any(array[person_id, team_id])',
    'person is not filtered by person_id',
  ],
  'a batch that is joined without its keys': [
    `update person set name = batch.name from unnest($1::uuid[], $2::text[]) as batch (person_id, name)
     where person.person_id = batch.person_id`,
    'person has no condition person_id = any($n) for the list that it is joined with',
  ],
  'a table that is joined with the rows of a list': [
    'select 1 from person join badge using (person_id) where person.person_id = any($1)',
    'badge has no condition person_id = any($n) for the list that it is joined with',
  ],
  'a table that is joined with rows whose keys another statement finds first': [
    `select 1 from person join badge using (person_id) where person.person_id = any(array(
       select * from (select person_id from place where name = $1) as found_first
     ))`,
    'badge has no condition person_id = any($n) for the list that it is joined with',
  ],
  'a table that is joined with a union of rows': [
    `with found as (
       select person_id from person where person_id = any($1)
       union all select person_id from person where person_id = any($2)
     ) select 1 from badge join found using (person_id)`,
    'badge has no condition person_id = any($n) for the list that it is joined with',
  ],
  'a table that is joined with rows of several keys': [
    'select 1 from person join badge using (person_id) where person.person_id in ($1, $2) or person.person_id = $3',
    'badge has no condition person_id = any($n) for the list that it is joined with',
  ],
  'rows whose keys are read elsewhere': [
    'insert into badge (person_id, badge_id) select person_id, $2 from place where name = $1',
    'badge gets rows whose person_id is not given',
  ],
  'a subquery among values': [
    'insert into badge (person_id, badge_id) values ($1, (select team_id from team limit 1))',
    'badge has a subquery in its values, which Citus takes from `insert … select` alone',
  ],
  'rows without a key': ['insert into badge (badge_id) values ($1)', 'badge gets rows whose person_id is not given'],
  'a row that changes its shard': ['update person set person_id = $2 where person_id = $1', 'person changes person_id'],
  'a row that a conflict moves': [
    'insert into badge (person_id, badge_id) values ($1, $2) on conflict (badge_id) do update set person_id = $1',
    'badge changes person_id',
  ],
  'a table of the coordinator': [
    'select 1 from queue join person using (person_id) where person_id = $1',
    'queue is on the coordinator alone, and person is in shards',
  ],
  'a time that depends on the time zone': [
    `update person set seen_at = case when $2 then seen_at + interval '1 day' end where person_id = $1`,
    'person adds an interval to a column without `at time zone`, which depends on the time zone',
  ],
  'the second part of a union': [
    'select name from person where person_id = $1 union all select name from person where name = $2',
    'person is not filtered by person_id',
  ],
}

for (const [what, [text, ...expected]] of Object.entries(refused))
  test(`a statement strays by ${what}`, () => {
    assert.deepEqual(problems(text), expected)
  })

test('a stray statement tells by which columns and tables its rows are found', () => {
  const [byName] = findStrays('select 1 from person where name = $1 and team_id = $2', schema)
  assert.deepEqual(byName?.by, ['name', 'team_id'])
  const [ofPlace] = findStrays('select 1 from person join place using (person_id) where place.name = $1', schema)
  assert.deepEqual(ofPlace?.of, ['place'])
})

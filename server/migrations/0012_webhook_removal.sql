-- The deliveries of a removed webhook are deleted in batches: they can be more than one statement may delete.
alter table webhook_delivery drop constraint webhook_delivery_receiver_id_fkey;
-- The receiver of an app has its ID, or another one, if deliveries to the app's former webhook are left.
alter table webhook_endpoint drop constraint webhook_endpoint_check;
alter table webhook_endpoint add constraint webhook_endpoint_check check (client_id is null or event_types = '{}');

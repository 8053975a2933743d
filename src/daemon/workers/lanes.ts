import type { WebhookId } from "../../core/kernel/brand.ts";
import type { DueEndpoint, Lane } from "../../core/webhooks/claim.ts";

/** How many tries may be under way at a time. */
export interface DeliveryBounds {
  overall: number;
  perEndpoint: number;
  /** For an endpoint whose last try failed. */
  perAilingEndpoint: number;
}

/** Who has how many tries under way, and who may start how many more. */
export interface Lanes {
  /** Shares what is free among the endpoints with something due. */
  share(due: DueEndpoint[]): Lane[];
  enter(id: WebhookId): void;
  leave(id: WebhookId): void;
}

/** Lanes within bounds, so that no endpoint, slow or dead, takes the room of another. */
export function createLanes(bounds: DeliveryBounds): Lanes {
  const busy = new Map<WebhookId, number>();
  let underWay = 0;
  const count = (id: WebhookId) => busy.get(id) ?? 0;
  return {
    share(due) {
      let free = bounds.overall - underWay;
      const lanes: Lane[] = [];
      // Whoever has nothing under way comes first.
      for (const { id, ailing } of due.toSorted((a, b) => count(a.id) - count(b.id))) {
        const room = roomFor(count(id), free, ailing ? bounds.perAilingEndpoint : bounds.perEndpoint);
        if (room <= 0) continue;
        lanes.push({ endpointId: id, room });
        free -= room;
      }
      return lanes;
    },
    enter(id) {
      underWay += 1;
      busy.set(id, count(id) + 1);
    },
    leave(id) {
      underWay -= 1;
      if (count(id) > 1) busy.set(id, count(id) - 1);
      else busy.delete(id);
    },
  };
}

/**
 * How many more tries an endpoint may start. One that is idle gets a place while there is any; one that is busy may
 * take half of what is free, so that however many are slow, there is room for one that is not.
 */
function roomFor(underWay: number, free: number, most: number): number {
  const share = underWay === 0 ? Math.max(1, Math.floor(free / 2)) : Math.floor(free / 2);
  return Math.min(most - underWay, share, free);
}
